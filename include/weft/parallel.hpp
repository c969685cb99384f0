// parallel.hpp: the same for many, on all processors.
//
//   weft::parallel_for(0, n, [&](int i) { row(i); });
//   weft::parallel_for(v.begin(), v.end(), [](item& each) { each.prepare(); });
//   std::vector<result> r = weft::parallel_map(inputs, [](const input& in) { return solve(in); });
#pragma once

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <ranges>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/detail/first_error.hpp>
#include <weft/go.hpp>
#include <weft/runtime.hpp>
#include <weft/sync.hpp>

namespace weft::inline v1 {

struct parallel_options {
  std::size_t workers = 0;  // so many at once; 0: as many as there are processors
  std::size_t grain = 0;    // so many in a row by one of them; 0: some sixteenth of its share
};

namespace detail {

// Calls each(i) for i in [0, n), by goroutines and the caller. What was taken is done; after a failure no more is taken.
class parallel_loop {
 public:
  parallel_loop(const parallel_options& opts, std::size_t n)
      : n_(n),
        nworkers_(
            std::min(n, opts.workers != 0 ? opts.workers : std::max<std::size_t>(1, max_procs()))),
        grain_(opts.grain != 0 ? opts.grain
                               : std::clamp<std::size_t>(n / (nworkers_ * 16 + 1), 1, 4096)) {}

  template <class Each>
  WEFT_MAY_SWITCH void run(Each& each) {
    {
      struct finally {  // also if the caller is unwound
        parallel_loop& loop;
        ~finally() {
          loop.is_left_ = true;
          loop.helpers_.wait();
        }
      } all_have_ended{*this};
      for (std::size_t i = 1; i < nworkers_; ++i) helpers_.go([this, &each] { work(each); });
      work(each);
    }
    error_.rethrow();
  }

 private:
  template <class Each>
  void work(Each& each) {
    try {
      // relaxed, both: go() and wait() order what is done
      while (!error_.is_set() && !is_left_.load(std::memory_order_relaxed)) {
        const std::size_t first = next_.fetch_add(grain_, std::memory_order_relaxed);
        if (first >= n_) return;
        const std::size_t last = n_ - first < grain_ ? n_ : first + grain_;
        for (std::size_t i = first; i < last; ++i) each(i);
      }
    } catch (...) {
      error_.set_caught([](const std::exception_ptr&) {});
    }
  }

  const std::size_t n_;
  const std::size_t nworkers_;
  const std::size_t grain_;
  std::atomic<std::size_t> next_{0};  // relaxed: go() and wait() order what is done
  std::atomic<bool> is_left_{false};
  first_error error_;
  wait_group helpers_;
};

template <class Each>
WEFT_MAY_SWITCH void for_each_index(const parallel_options& opts, std::size_t n, Each&& each) {
  if (n == 0) return;
  parallel_loop(opts, n).run(each);
}

// Iterators that cannot jump are written down first.
template <std::forward_iterator I, std::sentinel_for<I> S, class WithAt>
WEFT_MAY_SWITCH void with_iterators(I first, S last, WithAt&& with_at) {
  if constexpr (std::random_access_iterator<I>) {
    using step = std::iter_difference_t<I>;
    with_at(static_cast<std::size_t>(std::ranges::distance(first, last)),
            [&](std::size_t i) { return first + static_cast<step>(i); });
  } else {
    std::vector<I> all;
    for (; first != last; ++first) all.push_back(first);
    with_at(all.size(), [&](std::size_t i) -> const I& { return all[i]; });
  }
}

}  // namespace detail

// Calls f(i) for every i in [first, last), in any order, several at once; the caller takes part. Returns when all have.
// The first exception is rethrown when those that had begun have ended; what had not begun then is left out.
// It computes on as many processors as there are. For many things that wait (requests, say) use a group with a limit.
// Throws not_running without a runtime.
template <std::integral First, std::integral Last, class F>
  requires std::invocable<F&, std::common_type_t<First, Last>>
WEFT_MAY_SWITCH void parallel_for(const parallel_options& opts, First first, Last last, F&& f) {
  using number = std::common_type_t<First, Last>;
  const auto from = static_cast<number>(first);
  const auto to = static_cast<number>(last);
  if (to <= from) return;
  using count = std::make_unsigned_t<number>;
  const auto n = static_cast<count>(static_cast<count>(to) - static_cast<count>(from));
  detail::for_each_index(opts, n, [&](std::size_t i) {
    std::invoke(f, static_cast<number>(static_cast<count>(from) + static_cast<count>(i)));
  });
}
template <std::integral First, std::integral Last, class F>
  requires std::invocable<F&, std::common_type_t<First, Last>>
WEFT_MAY_SWITCH void parallel_for(First first, Last last, F&& f) {
  parallel_for(parallel_options{}, first, last, std::forward<F>(f));
}

// Calls f(*it) for every iterator in [first, last).
template <std::forward_iterator I, std::sentinel_for<I> S, class F>
  requires std::invocable<F&, std::iter_reference_t<I>>
WEFT_MAY_SWITCH void parallel_for(const parallel_options& opts, I first, S last, F&& f) {
  detail::with_iterators(first, last, [&](std::size_t n, const auto& at) {
    detail::for_each_index(opts, n, [&](std::size_t i) { std::invoke(f, *at(i)); });
  });
}
template <std::forward_iterator I, std::sentinel_for<I> S, class F>
  requires std::invocable<F&, std::iter_reference_t<I>>
WEFT_MAY_SWITCH void parallel_for(I first, S last, F&& f) {
  parallel_for(parallel_options{}, first, last, std::forward<F>(f));
}

// The results of f(*it), in the order of the iterators. Errors as parallel_for.
template <std::forward_iterator I, std::sentinel_for<I> S, class F>
  requires std::invocable<F&, std::iter_reference_t<I>>
[[nodiscard]] WEFT_MAY_SWITCH auto parallel_map(const parallel_options& opts, I first, S last,
                                                F&& f) {
  using result = std::remove_cvref_t<std::invoke_result_t<F&, std::iter_reference_t<I>>>;
  static_assert(!std::is_void_v<result>, "parallel_map: f gives a result; else use parallel_for");
  std::vector<std::optional<result>> made;
  detail::with_iterators(first, last, [&](std::size_t n, const auto& at) {
    made.resize(n);
    detail::for_each_index(opts, n,
                           [&](std::size_t i) { made[i].emplace(std::invoke(f, *at(i))); });
  });
  std::vector<result> all;
  all.reserve(made.size());
  for (std::optional<result>& each : made) all.push_back(std::move(*each));
  return all;
}
template <std::forward_iterator I, std::sentinel_for<I> S, class F>
  requires std::invocable<F&, std::iter_reference_t<I>>
[[nodiscard]] WEFT_MAY_SWITCH auto parallel_map(I first, S last, F&& f) {
  return parallel_map(parallel_options{}, first, last, std::forward<F>(f));
}
template <std::ranges::forward_range R, class F>
  requires std::invocable<F&, std::ranges::range_reference_t<R>>
[[nodiscard]] WEFT_MAY_SWITCH auto parallel_map(const parallel_options& opts, R&& range, F&& f) {
  return parallel_map(opts, std::ranges::begin(range), std::ranges::end(range), std::forward<F>(f));
}
template <std::ranges::forward_range R, class F>
  requires std::invocable<F&, std::ranges::range_reference_t<R>>
[[nodiscard]] WEFT_MAY_SWITCH auto parallel_map(R&& range, F&& f) {
  return parallel_map(std::ranges::begin(range), std::ranges::end(range), std::forward<F>(f));
}

}  // namespace weft::inline v1
