// engine.hpp: one execution of a model: its threads, who may go on, and what its memory does.
//
// Every operation on a model atomic is a scheduling point: before it, the strategy says which thread goes on. Between two points nothing else
// runs, so an execution is determined by the strategy's answers, and can be had again.
//
// Who may go on: a thread that is not asleep on a futex word; one whose sleep has a deadline at any time (then the deadline has passed); one
// that called pause() or nap() as soon as another thread has stored something since its first look after the pause before. So a spin loop
// costs about as many turns as there are stores, and one that nobody will end is found: then nobody can go on, and not all have ended.
//
// Three memories:
//   sc            the last store to a location is what everyone reads
//   store_buffer  x86: stores wait in a queue of their thread's; read-modify-writes, seq_cst stores, barriers and system calls empty it.
//                 When a store leaves the queue matters only to whoever looks at its location (or stores there), so that is where it is
//                 chosen (store_buffer.cpp)
//   stale_read    release and acquire: a load may read an old message, as far as its thread's view allows (stale_read.cpp). Also finds data
//                 races on plain<T>
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "explorer/fiber.hpp"
#include "explorer/strategy.hpp"
#include "explorer/views.hpp"

namespace weft::model {

enum class memory : std::uint8_t { sc, store_buffer, stale_read };

const char* name_of(memory m) noexcept;

// A location. Its value is what is in memory, or the newest message.
struct cell {
  std::uint64_t value;
  std::uint32_t id;
  std::uint32_t mark;  // kAlive, as long as it is
};

struct run_result {
  bool has_failed = false;
  std::string why;
  unsigned npoints = 0;
};

struct settings {
  memory mem = memory::sc;
  unsigned max_steps = 5000;
  unsigned staleness = 2;       // how many messages a load may lag behind
  unsigned spurious_wakes = 0;  // in one execution
  bool may_end_asleep =
      false;  // it is over when all that is left sleeps; at_end says whether that is right
};

class engine {
 public:
  engine();

  // --- one execution ---

  // World is a storage in which make() builds the scenario and destroy() ends it.
  struct program {
    void* world;
    void (*make)(void*);
    void (*destroy)(void*);
    void (*thread)(void* world, unsigned index);
    void (*at_end)(void* world);
    unsigned nthreads;
  };
  run_result run(const program& p, strategy& how, const settings& set);

  // Of the next executions: their choices, and each operation in words.
  bool is_recording = false;
  schedule recorded;
  bool is_tracing = false;
  std::vector<std::string> trace;

  // --- what the scenario's threads call ---

  [[noreturn]] void fail(std::string why);
  unsigned current() const noexcept { return current_; }
  bool has_weak_memory() const noexcept { return set_.mem != memory::sc; }
  void label(const void* from, std::size_t bytes, const char* name);
  void say(const std::string& text);

  // --- locations ---

  static constexpr std::uint32_t kAlive = 0x600DCE11;
  void add(cell& c, std::uint64_t value);
  void remove(cell& c);

  std::uint64_t load(const cell& c, std::memory_order order) {
    if (!is_running_) return c.value;
    const cell& l = arrive(c);
    note_look();
    const std::uint64_t v = set_.mem == memory::sc             ? l.value
                            : set_.mem == memory::store_buffer ? load_buffered(l)
                                                               : load_stale(l, order);
    if (is_tracing) [[unlikely]]
      tell("load", c, order, v);
    return v;
  }

  void store(cell& c, std::uint64_t value, std::memory_order order) {
    if (!is_running_) return set_quietly(c, value);
    arrive(c);
    store_now(c, value, order);
  }

  // change(old) -> new. Gives the old one.
  template <class Change>
  std::uint64_t update(cell& c, std::memory_order order, const char* name, Change&& change) {
    if (is_running_) {
      arrive(c);
      before_update(c);
    }
    const std::uint64_t old = c.value;
    const std::uint64_t now = change(old);
    if (!is_running_) {
      set_quietly(c, now);
      return old;
    }
    if (is_tracing) [[unlikely]]
      tell(name, c, order, old, now);
    commit_update(c, now, order);
    return old;
  }

  // True: done. Else `expected` is what was seen.
  bool compare_exchange(cell& c, std::uint64_t& expected, std::uint64_t value,
                        std::memory_order success, std::memory_order failure);

  // --- the rest of the policy ---

  void pause();
  bool wait(const cell& word, std::uint64_t expected, bool has_deadline);
  void wake(const cell& word, int count);
  // On every thread at once.
  void barrier();
  // The same, and whoever is in the midst of replace_alone() fails.
  void restart_others();
  // A load, and a store: others may come between, and are overwritten.
  bool replace_alone(cell& c, std::uint64_t before, std::uint64_t after);

  // --- data that is not atomic (plain.hpp) ---

  struct plain_state {
    std::uint8_t writer = 0;
    std::uint8_t written = 0;             // at that time of the writer's
    std::uint8_t read[kMaxThreads] = {};  // at that time of each reader's
  };
  void read_plain(plain_state& s, const char* what) {
    if (is_running_ && set_.mem == memory::stale_read) check_read(s, what);
  }
  void write_plain(plain_state& s, const char* what) {
    if (is_running_ && set_.mem == memory::stale_read) check_write(s, what);
  }

 private:
  struct buffered_store {
    cell* where;
    std::uint64_t value;
    std::uint64_t number;  // in which order they were made, by all threads
  };

  struct thread {
    fiber stack;
    const cell* sleeps_on = nullptr;
    bool was_woken = false;      // else its deadline has passed
    bool has_looked = false;     // since it last paused
    unsigned nforeign_seen = 0;  // stores of others when it did so first
    unsigned nown_stores = 0;
    bool has_read_old = false;  // since it last paused
    bool reads_newest = false;  // it must get on
    view sees;
    std::vector<buffered_store> buffer;
  };

  static constexpr unsigned bit(unsigned t) noexcept { return 1u << t; }

  // --- points ---

  // Before an operation on c: others may run. Afterwards it is checked that c still lives.
  const cell& arrive(const cell& c) {
    point();
    if (c.mark != kAlive) [[unlikely]]
      fail_dead(c);
    return c;
  }
  void point() {
    if (++nsteps_ > set_.max_steps) [[unlikely]]
      fail("it does not end: too many steps");
    if (is_fresh_) {
      is_fresh_ = false;
      return;
    }
    const unsigned enabled = ready_ | timed_;
    if (enabled == bit(current_)) return;
    const unsigned next = pick(enabled, false);
    if (next != current_) go_to(next);
  }
  unsigned pick(unsigned enabled, bool must_leave) {
    ++npicks_;
    const unsigned next = how_->pick(enabled, current_, must_leave);
    if (is_recording && (enabled & (enabled - 1)) != 0)
      recorded.push_back(static_cast<std::uint8_t>(next));
    return next;
  }
  unsigned choose(unsigned n, bool is_weak);
  void go_to(unsigned next);
  void leave_cpu();
  bool force_progress();
  void end_thread();
  [[noreturn]] void back_to_main();
  static void thread_main(void* self);
  static void end_main(void* self);
  [[noreturn]] void fail_dead(const cell& c);

  unsigned nforeign(const thread& t) const noexcept { return nstores_ - t.nown_stores; }
  void note_look() noexcept {
    thread& t = threads_[current_];
    if (t.has_looked) return;
    t.has_looked = true;
    t.nforeign_seen = nforeign(t);
    behind_ &= ~bit(current_);
  }
  void note_store() noexcept {
    ++nstores_;
    ++threads_[current_].nown_stores;
    ready_ |= paused_;
    paused_ = 0;
  }

  // --- memories ---

  void before_update(const cell& c) {
    note_look();
    if (set_.mem == memory::store_buffer) settle(c);
  }
  void commit_update(cell& c, std::uint64_t value, std::memory_order order) {
    if (set_.mem == memory::stale_read) {
      update_stale(c, value, order);
    } else {
      c.value = value;
    }
    note_store();
  }

  void set_quietly(cell& c, std::uint64_t value);

  void store_now(cell& c, std::uint64_t value, std::memory_order order) {
    if (is_tracing) [[unlikely]]
      tell("store", c, order, value);
    if (set_.mem == memory::sc) {
      c.value = value;
    } else if (set_.mem == memory::store_buffer) {
      store_buffered(c, value, order);
    } else {
      store_stale(c, value, order);
    }
    note_store();
  }

  std::uint64_t load_buffered(const cell& c);
  void store_buffered(cell& c, std::uint64_t value, std::memory_order order);
  // The current thread's queue is empty, and all that others may have stored at c before now is chosen.
  void settle(const cell& c);
  void observe(const cell& c, unsigned by);
  void flush_first(unsigned t);
  void flush_until(unsigned t, std::uint64_t number);
  void flush_all(unsigned t);
  void flush_everything();

  std::uint64_t load_stale(const cell& c, std::memory_order order);
  bool fails_stale(const cell& c, std::uint64_t& expected, std::memory_order failure);
  void store_stale(cell& c, std::uint64_t value, std::memory_order order);
  void update_stale(cell& c, std::uint64_t value, std::memory_order order);
  void append(cell& c, std::uint64_t value, std::memory_order order, view carries);
  void count_release();
  std::uint64_t read_message(const cell& c, unsigned at, std::memory_order order);
  unsigned oldest_readable(const history& h, unsigned id, std::memory_order order) const;
  void share_views();
  void check_read(plain_state& s, const char* what);
  void check_write(plain_state& s, const char* what);

  // --- words ---

  void tell(const char* what, const cell& c, std::memory_order order, std::uint64_t value);
  void tell(const char* what, const cell& c, std::memory_order order, std::uint64_t old,
            std::uint64_t now);
  std::string name_of(const cell& c) const;

  settings set_;
  program program_{};
  strategy* how_ = nullptr;
  bool is_running_ = false;  // else operations are done at once, by nobody
  bool is_fresh_ =
      false;  // the current thread was chosen for what it does next: it begins, or wakes up
  unsigned current_ = 0;
  unsigned ready_ = 0;   // sets of threads: can go on
  unsigned timed_ = 0;   // asleep with a deadline
  unsigned paused_ = 0;  // wait for somebody to store something
  unsigned behind_ = 0;  // a store has left its queue since their first look after a pause
  unsigned nalive_ = 0;
  unsigned nsteps_ = 0;
  unsigned npicks_ = 0;
  unsigned nstores_ = 0;
  unsigned nspurious_ = 0;
  unsigned nrestarts_ = 0;
  unsigned nlocations_ = 0;
  std::uint64_t nbuffered_ = 0;
  thread threads_[kMaxThreads];
  fiber end_;
  arch::context main_{};
  std::vector<history> histories_;
  run_result result_;

  struct label_range {
    const std::byte* from;
    std::size_t bytes;
    const char* name;
  };
  std::vector<label_range> labels_;
};

extern engine the_engine;

}  // namespace weft::model
