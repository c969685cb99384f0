// peer.hpp: what every generated C++ program includes: a goroutine that says what happens to it, and the table of programs.
//
// The same as peer.go, word for word where it can be: what the two print is compared.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <weft/weft.hpp>

namespace peer {

inline constexpr int kModulus = 1000003;

constexpr int mix(int acc, int value) noexcept { return (acc * 31 + value) % kModulus; }

// A text that stands for a number, and back. A zero value is the number 0.
std::string text(int value);
int number(const std::string& t);

// What came out of a channel of any kind, as Go's `v, ok := <-c`.
struct taken {
  int value = 0;
  bool ok = false;

  taken() = default;
  taken(int v, bool is) : value(v), ok(is) {}
  taken(const std::optional<int>& v) : value(v.value_or(0)), ok(v.has_value()) {}
  taken(const std::optional<std::string>& v) : value(v ? number(*v) : 0), ok(v.has_value()) {}
  taken(bool is) : ok(is) {}
};

// A handler for on_recv that only keeps what came.
struct keep {
  taken* where;
  void operator()(const std::optional<int>& v) const { *where = taken(v); }
  void operator()(const std::optional<std::string>& v) const { *where = taken(v); }
  void operator()(bool is) const { *where = taken(is); }
};

// What is said of one arm of a pump.
struct digest {
  int n = 0;
  int sum = 0;
  int mixed = 0;

  void add(int value) noexcept {
    ++n;
    sum += value;
    mixed = mix(mixed, value);
  }
};

// A goroutine of the program: see ir.py.
struct gor {
  int number = 0;
  int acc = 0;
  bool is_audible = true;
  bool failed = false;
  std::array<bool, 8> seen{};

  void say(std::string_view what) const;
  void say(std::string_view what, int value) const;
  void sent(std::string_view ch) const;
  void got(std::string_view ch, const taken& t);
  void chose(int index) const;
  void has(std::string_view ch, std::size_t length, std::size_t capacity) const;
  void tell_seen();
  void caught(const char* what);
  void pumped(std::string_view ch, const digest& d, bool is_ordered) const;
};

// A mutex, and what it guards.
struct counter {
  weft::mutex mutex;
  int n = 0;
  int sum = 0;
  std::int64_t squares = 0;

  void add(int value);
  void tell(const gor& g, std::string_view name);
};

// Programs announce themselves.
struct program {
  int seed;
  void (*run)(gor&);
  program* next;

  program(int s, void (*r)(gor&)) noexcept;
};

}  // namespace peer
