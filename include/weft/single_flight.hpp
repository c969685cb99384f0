// single_flight.hpp: whoever asks for what is being fetched already waits for that one.
//
//   weft::single_flight<std::string, page> flights;
//   page p = flights.call(url, [&] { return fetch(url); });     // a hundred at once: one fetch
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include <weft/detail/unwind.hpp>
#include <weft/error.hpp>
#include <weft/event.hpp>
#include <weft/mutex.hpp>

namespace weft::inline v1 {

// As golang.org/x/sync/singleflight. It keeps nothing: who comes when the call has ended begins a new one.
// A function that asks for its own key waits for itself.
template <class Key, class Value, class Hash = std::hash<Key>, class Equal = std::equal_to<Key>>
class single_flight {
  static_assert(std::is_void_v<Value> || std::is_copy_constructible_v<Value>,
                "single_flight: everybody who waited gets a copy");

 public:
  single_flight() = default;
  single_flight(const single_flight&) = delete;
  single_flight& operator=(const single_flight&) = delete;

  // What f() gives, or threw: f of this call, or of one for the same key that was under way. If that f called exit_goroutine(), those who
  // wait get goroutine_exited. was_shared: whether more than one got it.
  // Blocks: this goroutine only (from a plain thread: that thread).
  template <class F>
    requires std::is_invocable_r_v<Value, F&>
  WEFT_MAY_SWITCH Value call(const Key& key, F&& f, bool* was_shared = nullptr) {
    std::shared_ptr<flight> mine;
    bool is_first = false;
    {
      const std::lock_guard hold(lock_);
      std::shared_ptr<flight>& there = flights_[key];
      is_first = there == nullptr;
      if (is_first) {
        remove_if_unmade empty{*this, key, there};
        there = std::make_shared<flight>();
      } else {
        there->is_shared = true;
      }
      mine = there;
    }
    if (is_first) {
      lead(key, *mine, f);
    } else {
      mine->done.wait();
    }
    if (was_shared != nullptr) *was_shared = mine->is_shared;
    return mine->take();
  }

  // Whoever asks from now on begins a new call, though one is under way.
  WEFT_MAY_SWITCH void forget(const Key& key) {
    const std::lock_guard hold(lock_);
    flights_.erase(key);
  }

 private:
  struct flight {
    event done;
    bool is_shared = false;  // under the lock until it is done
    std::exception_ptr error;
    bool exited = false;
    struct nothing {};
    std::conditional_t<std::is_void_v<Value>, nothing,
                       std::optional<std::conditional_t<std::is_void_v<Value>, nothing, Value>>>
        value;

    Value take() const {
      if (error) std::rethrow_exception(error);
      if (exited) throw goroutine_exited();
      if constexpr (!std::is_void_v<Value>) return *value;
    }
  };

  struct remove_if_unmade {  // if there is no memory for it
    single_flight& of;
    const Key& key;
    const std::shared_ptr<flight>& there;
    ~remove_if_unmade() {
      if (there == nullptr) of.flights_.erase(key);
    }
  };

  // However f ends.
  struct landing {
    single_flight& of;
    const Key& key;
    flight& mine;
    ~landing() {
      {
        const std::lock_guard hold(of.lock_);
        const auto found = of.flights_.find(key);
        if (found != of.flights_.end() && found->second.get() == &mine) of.flights_.erase(found);
      }
      mine.done.set();
    }
  };

  template <class F>
  void lead(const Key& key, flight& mine, F& f) {
    const landing in_any_case{*this, key, mine};
    try {
      if constexpr (std::is_void_v<Value>) {
        std::invoke(f);
      } else {
        mine.value.emplace(std::invoke(f));
      }
    } catch (...) {
      if (detail::must_rethrow()) {
        mine.exited = true;
        throw;
      }
      mine.error = std::current_exception();
    }
  }

  mutex lock_;
  std::unordered_map<Key, std::shared_ptr<flight>, Hash, Equal> flights_;
};

}  // namespace weft::inline v1
