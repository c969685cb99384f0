// worker_pool.hpp: a fixed number of goroutines that do what they are given.
//
//   weft::worker_pool pool(8);
//   auto thumb = pool.submit(scale, image, 0.1);       // join_handle
//   pool.post([=] { log(image); });                    // fire and forget
//   show(thumb.join());
//
// Goroutines are cheap: where each piece of work may have one of its own, use go(), or a group with a limit. A pool is for work that needs
// something there is only so much of, and for a queue that pushes back.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

#include <weft/chan.hpp>
#include <weft/go.hpp>
#include <weft/runtime.hpp>
#include <weft/sync.hpp>

namespace weft::inline v1 {

namespace detail {

class pool_task {
 public:
  pool_task() noexcept = default;
  pool_task(const pool_task&) = delete;
  pool_task& operator=(const pool_task&) = delete;
  virtual ~pool_task() = default;
  virtual void run() = 0;
};

template <class Call>
class pool_task_of final : public pool_task {
 public:
  template <class... Args>
  explicit pool_task_of(std::in_place_t, Args&&... args) : call_(std::forward<Args>(args)...) {}
  void run() override { call_(); }

 private:
  Call call_;
};

}  // namespace detail

// Work is begun in the order in which it came. Everything may be called from any thread, also from work in the pool; but where all workers
// wait in submit() for room, or in join() for work that is queued behind them, nobody is left to make any.
class worker_pool {
 public:
  // So many workers (0: as many as there are processors), and room for so much work that nobody has begun.
  // Throws not_running without a runtime.
  explicit worker_pool(std::size_t nworkers = 0, std::size_t room = 64)
      : tasks_(make_chan<detail::pool_task*>(room)) {
    if (nworkers == 0) nworkers = std::max<std::size_t>(1, max_procs());
    try {
      for (std::size_t i = 0; i < nworkers; ++i) start_worker();
    } catch (...) {
      close();
      workers_.wait();
      throw;
    }
  }
  worker_pool(const worker_pool&) = delete;
  worker_pool& operator=(const worker_pool&) = delete;
  // Does all that it was given, and ends.
  WEFT_MAY_SWITCH ~worker_pool() {
    close();
    workers_.wait();
  }

  // Calls f(args...) in a worker, and gives a handle to the result. Waits while there is no room.
  // Throws closed_channel after close().
  template <class F, class... Args>
    requires std::invocable<std::decay_t<F>, std::decay_t<Args>...>
  WEFT_MAY_SWITCH auto submit(F&& f, Args&&... args) {
    detail::reject_empty(f);
    using call = detail::bound_call<std::decay_t<F>, std::decay_t<Args>...>;
    detail::join_starter<call> s(std::forward<F>(f), std::forward<Args>(args)...);
    using task = detail::pool_task_of<detail::join_runner<call>>;
    enqueue(std::make_unique<task>(std::in_place, s.runner()));
    return s.handle();
  }

  // The same without a handle: an exception that leaves f ends the process, as one that leaves a goroutine.
  template <class F, class... Args>
    requires std::invocable<std::decay_t<F>, std::decay_t<Args>...>
  WEFT_MAY_SWITCH void post(F&& f, Args&&... args) {
    detail::reject_empty(f);
    using task = detail::pool_task_of<detail::bound_call<std::decay_t<F>, std::decay_t<Args>...>>;
    enqueue(std::make_unique<task>(std::in_place, std::forward<F>(f), std::forward<Args>(args)...));
  }

  // Waits until nothing is queued and nobody works.
  WEFT_MAY_SWITCH void wait() noexcept { pending_.wait(); }

  // Nothing more is taken; what was, is done. Any number of times.
  WEFT_MAY_SWITCH void close() {
    closing_.call([this] { tasks_.close(); });
  }

 private:
  // One that is pending, until it is done or handed on.
  struct counted {
    wait_group* of;
    ~counted() {
      if (of != nullptr) of->done();
    }
  };

  WEFT_MAY_SWITCH void enqueue(std::unique_ptr<detail::pool_task> task) {
    pending_.add(1);
    counted undo{&pending_};
    tasks_.send(task.get());
    task.release();
    undo.of = nullptr;
  }

  void start_worker() {
    workers_.go([this] { work(); });
  }

  void work() {
    struct successor {  // whoever calls exit_goroutine() in a worker ends only his own work
      worker_pool* pool;
      ~successor() {
        if (pool != nullptr) pool->start_worker();
      }
    } if_unwound{this};
    for (detail::pool_task* next : tasks_) {
      const counted one{&pending_};
      const std::unique_ptr<detail::pool_task> task(next);
      task->run();
    }
    if_unwound.pool = nullptr;
  }

  chan<detail::pool_task*> tasks_;
  once closing_;
  wait_group pending_;
  wait_group workers_;
};

}  // namespace weft::inline v1
