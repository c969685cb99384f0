// atomics.hpp: the policy with which a model instantiates the protocols of weft, in place of os::futex_atomics.
#pragma once

#include <atomic>
#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "explorer/engine.hpp"
#include "os/futex.hpp"

namespace weft::model {

struct model_atomics {
  template <class T>
  class atomic {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(std::uint64_t));

   public:
    constexpr atomic() noexcept : atomic(T{}) {}
    constexpr atomic(T value) noexcept : cell_{} {  // NOLINT: as std::atomic
      if (!std::is_constant_evaluated()) the_engine.add(cell_, bits(value));
    }
    ~atomic() { the_engine.remove(cell_); }
    atomic(const atomic&) = delete;
    atomic& operator=(const atomic&) = delete;

    T load(std::memory_order o = std::memory_order_seq_cst) const noexcept {
      return value(the_engine.load(cell_, o));
    }
    void store(T v, std::memory_order o = std::memory_order_seq_cst) noexcept {
      the_engine.store(cell_, bits(v), o);
    }
    T exchange(T v, std::memory_order o = std::memory_order_seq_cst) noexcept {
      return value(the_engine.update(cell_, o, "exchange", [&](std::uint64_t) { return bits(v); }));
    }

    bool compare_exchange_strong(T& expected, T v, std::memory_order success,
                                 std::memory_order failure) noexcept {
      std::uint64_t seen = bits(expected);
      const bool is_done = the_engine.compare_exchange(cell_, seen, bits(v), success, failure);
      if (!is_done) expected = value(seen);
      return is_done;
    }
    bool compare_exchange_strong(T& expected, T v,
                                 std::memory_order o = std::memory_order_seq_cst) noexcept {
      return compare_exchange_strong(expected, v, o, of_failure(o));
    }
    // It never fails for no reason: whoever uses it tries again, which is seen enough when others come between.
    bool compare_exchange_weak(T& expected, T v, std::memory_order success,
                               std::memory_order failure) noexcept {
      return compare_exchange_strong(expected, v, success, failure);
    }
    bool compare_exchange_weak(T& expected, T v,
                               std::memory_order o = std::memory_order_seq_cst) noexcept {
      return compare_exchange_strong(expected, v, o);
    }

    T fetch_add(T n, std::memory_order o = std::memory_order_seq_cst) noexcept
      requires std::integral<T>
    {
      return change("fetch_add", o, [&](T v) { return static_cast<T>(v + n); });
    }
    T fetch_sub(T n, std::memory_order o = std::memory_order_seq_cst) noexcept
      requires std::integral<T>
    {
      return change("fetch_sub", o, [&](T v) { return static_cast<T>(v - n); });
    }
    T fetch_or(T n, std::memory_order o = std::memory_order_seq_cst) noexcept
      requires std::integral<T>
    {
      return change("fetch_or", o, [&](T v) { return static_cast<T>(v | n); });
    }
    T fetch_and(T n, std::memory_order o = std::memory_order_seq_cst) noexcept
      requires std::integral<T>
    {
      return change("fetch_and", o, [&](T v) { return static_cast<T>(v & n); });
    }

    bool replace_alone(T before, T after) noexcept {
      return the_engine.replace_alone(cell_, bits(before), bits(after));
    }

    const cell& where() const noexcept { return cell_; }

   private:
    static std::uint64_t bits(T v) noexcept {
      std::uint64_t b = 0;
      std::memcpy(&b, &v, sizeof v);
      return b;
    }
    static T value(std::uint64_t b) noexcept {
      T v;
      std::memcpy(&v, &b, sizeof v);
      return v;
    }
    static constexpr std::memory_order of_failure(std::memory_order o) noexcept {
      if (o == std::memory_order_acq_rel) return std::memory_order_acquire;
      return o == std::memory_order_release ? std::memory_order_relaxed : o;
    }
    template <class F>
    T change(const char* name, std::memory_order o, F&& f) noexcept {
      return value(
          the_engine.update(cell_, o, name, [&](std::uint64_t b) { return bits(f(value(b))); }));
    }

    cell cell_;
  };

  static void pause() noexcept { the_engine.pause(); }
  static bool wait(const atomic<std::uint32_t>& word, std::uint32_t expected,
                   std::int64_t deadline_ns = os::kNoDeadline) noexcept {
    return the_engine.wait(word.where(), expected, deadline_ns != os::kNoDeadline);
  }
  static void wake(const atomic<std::uint32_t>& word, int count) noexcept {
    the_engine.wake(word.where(), count);
  }
  // Over when another has done something: how long it takes is nobody's business here.
  static void nap(std::int64_t) noexcept { the_engine.pause(); }
  static bool replace_alone(atomic<std::uint32_t>& word, std::uint32_t before,
                            std::uint32_t after) noexcept {
    return word.replace_alone(before, after);
  }
  static void restart_others() noexcept { the_engine.restart_others(); }
};

// os::heavy_barrier(), in a machine that has it.
inline void heavy_barrier() noexcept { the_engine.barrier(); }

}  // namespace weft::model
