// gate.hpp: a door for fibers that is shut until it is opened, once.
#pragma once

#include <mutex>

#include <boost/fiber/condition_variable.hpp>
#include <boost/fiber/mutex.hpp>

namespace peer {

class gate {
 public:
  void wait() {
    std::unique_lock lock(mutex_);
    opened_.wait(lock, [this] { return open_; });
  }
  void open() {
    {
      const std::lock_guard lock(mutex_);
      open_ = true;
    }
    opened_.notify_all();
  }

 private:
  boost::fibers::mutex mutex_;
  boost::fibers::condition_variable opened_;
  bool open_ = false;
};

}  // namespace peer
