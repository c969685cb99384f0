// plain.hpp: data that is not atomic: what the protocols under test hand from one thread to another.
//
// In the stale-read memory it is checked that whoever reads knows of the last write, and whoever writes of the last write and of every read:
// else nothing orders the two, and it is a data race. In the other memories it is a variable.
#pragma once

#include <utility>

#include "explorer/engine.hpp"

namespace weft::model {

template <class T>
class plain {
 public:
  explicit plain(T value = T{}, const char* name = "plain data")
      : value_(std::move(value)), name_(name) {}

  const T& get() const {
    the_engine.read_plain(state_, name_);
    return value_;
  }
  void set(T value) {
    the_engine.write_plain(state_, name_);
    value_ = std::move(value);
  }
  // When all threads have ended.
  const T& last() const { return value_; }

 private:
  T value_;
  const char* name_;
  mutable engine::plain_state state_;
};

}  // namespace weft::model
