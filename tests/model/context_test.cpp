// context_test.cpp: context/ending_core.hpp and <weft/detail/shares.hpp>, [context.end] [context.free]: contexts end, are made, and go, beside
// one another.
//
// An ending here has what one of src/context has, but for names: shares, a parent that it holds a share of, and a word that says that it has ended,
// in place of its done channel. release() is node.cpp's, and caller is call.cpp's after_func. The lock is the runtime's in place of weft::mutex, which
// mutex_test.cpp has.
#include "context/ending_core.hpp"

#include <gtest/gtest.h>

#include <weft/detail/shares.hpp>

#include "explorer/explore.hpp"
#include "os/lock.hpp"
#include "parties.hpp"

namespace weft::model {
namespace {

using shares = detail::basic_share_count<model_atomics::atomic>;
using decision = detail::basic_decision<model_atomics::atomic>;
using lock = os::basic_lock<model_atomics, os::lock_rank::waiters>;

class ending;

struct observer {
  virtual ending* child() noexcept { return nullptr; }
  virtual bool hold() noexcept { return false; }
  virtual void finish() noexcept = 0;

  observer** link = nullptr;
  observer* next = nullptr;

 protected:
  ~observer() = default;
};

// Why, as two words: the error and its cause.
struct reason {
  plain<int> error{0, "the error"};
  plain<int> cause{0, "its cause"};

  reason() = default;
  explicit reason(int n) : error(n), cause(-n) {}
  reason& operator=(const reason& other) noexcept {
    error.set(other.error.get());
    cause.set(other.cause.get());
    return *this;
  }
};

class ending : public observer, public contexts::ending_core<ending, observer, lock, reason> {
 public:
  // Takes a share of its parent.
  void be_child_of(ending* parent) noexcept {
    parent_ = parent;
    if (parent != nullptr) parent->retain();
  }
  bool has_ended() const noexcept { return is_closed_.load(std::memory_order_acquire); }
  void cancel(int why) noexcept { end(reason(why)); }
  // Whoever has seen the end.
  int error() const {
    const int n = this->why().error.get();
    MODEL_CHECK(this->why().cause.get() == -n, "the error and its cause belong together");
    return n;
  }

  void retain() noexcept { shares_.take(); }
  static void release(ending* n) noexcept {
    while (n != nullptr && n->shares_.give_back()) {
      ending* const up = n->parent_;
      if (up != nullptr) up->leave(n);  // retire()
      n->free();
      n = up;
    }
  }

  ending* child() noexcept override { return this; }
  void finish() noexcept override { release(this); }

  plain<int> memory{0, "its memory"};  // who has a share may read it
  void (*on_free)(ending*) = nullptr;

 private:
  friend contexts::ending_core<ending, observer, lock, reason>;
  void free() noexcept {
    memory.set(1);
    on_free(this);
  }
  bool try_retain() noexcept { return shares_.try_take(); }
  ending* above() const noexcept { return parent_; }
  static ending* below(observer* o) noexcept { return o->child(); }
  void close() noexcept { is_closed_.store(true, std::memory_order_release); }
  void announce() noexcept {}

  shares shares_;
  ending* parent_ = nullptr;
  model_atomics::atomic<bool> is_closed_{false};
};

// after_func
class caller final : public observer {
 public:
  void enter(ending* at) noexcept {
    at->retain();
    shares_.take();
    at_ = at;
    if (!at->enter(this) && hold()) finish();
  }
  bool stop() noexcept {
    if (!fate_.take()) return false;
    at_->leave(this);
    ending::release(at_);
    release();
    return true;
  }
  void release() noexcept {
    if (shares_.give_back()) on_free(this);
  }
  bool hold() noexcept override { return fate_.take(); }
  void finish() noexcept override {
    ending* const at = at_;
    ++*ncalls;
    release();
    ending::release(at);
  }

  int* ncalls = nullptr;
  void (*on_free)(caller*) = nullptr;

 private:
  shares shares_;
  decision fate_;
  ending* at_ = nullptr;
};

// A parent, its child, and the child's child. Each has one share, the scenario's.
struct world {
  mortal<ending> top, middle, bottom;
  mortal<caller> call;
  int nfreed = 0;
  int ncalls = 0;
  bool was_stopped = false;

  static inline world* the_world = nullptr;

  world() {
    the_world = this;
    for (mortal<ending>* each : {&top, &middle, &bottom}) each->get().on_free = &free;
    call->ncalls = &ncalls;
    call->on_free = [](caller*) { the_world->nfreed++, the_world->call.destroy(); };
    middle->be_child_of(&top.get());
    bottom->be_child_of(&middle.get());
  }
  static void free(ending* e) {
    for (mortal<ending>* each : {&the_world->top, &the_world->middle, &the_world->bottom})
      if (&each->get() == e) each->destroy();
    ++the_world->nfreed;
  }
  static void release(mortal<ending>& e) { ending::release(&e.get()); }
};

struct family : world {
  family() {
    middle->join();
    bottom->join();
  }
};

TEST(context_model, a_child_that_is_made_while_its_parent_ends_ends_as_well) {
  struct made_late : world {
    made_late() { middle->join(); }
  };
  explore<made_late>(
      {[](made_late& w) { w.bottom->join(); }, [](made_late& w) { w.top->cancel(1); },
       [](made_late& w) { w.middle->cancel(2); }},
      [](made_late& w) {
        MODEL_CHECK(w.bottom->has_ended(), "nobody told it");
        MODEL_CHECK(w.bottom->error() == w.middle->error(), "they end as one");
        for (mortal<ending>* each : {&w.bottom, &w.middle, &w.top}) w.release(*each);
        MODEL_CHECK(w.nfreed == 3, "a share is left");
      });
}

//    cancel top                               cancel middle
//    lock top                                 lock middle
//    lock middle: waits                       close it, lock bottom, close it
//    it has ended: all below it has, too      unlock both
TEST(context_model, when_a_cancel_returns_all_below_has_ended) {
  explore<family>({[](family& w) {
                     w.top->cancel(1);
                     MODEL_CHECK(
                         w.top->has_ended() && w.middle->has_ended() && w.bottom->has_ended(),
                         "somebody below has not ended");
                     w.bottom->error();
                   },
                   [](family& w) {
                     w.middle->cancel(2);
                     MODEL_CHECK(w.middle->has_ended() && w.bottom->has_ended(),
                                 "somebody below has not ended");
                     w.bottom->error();
                   }},
                  [](family& w) {
                    MODEL_CHECK(w.bottom->error() == w.middle->error(), "they end as one");
                    MODEL_CHECK(w.top->error() == 1, "nobody else ends it");
                  });
}

TEST(context_model, also_for_one_who_comes_second) {
  explore<family>({[](family& w) { w.top->cancel(1); },
                   [](family& w) {
                     w.top->cancel(2);
                     MODEL_CHECK(w.middle->has_ended() && w.bottom->has_ended(),
                                 "somebody below has not ended");
                   },
                   [](family& w) {
                     w.bottom->cancel(3);
                     MODEL_CHECK(w.bottom->has_ended(), "it has ended itself");
                   }});
}

TEST(context_model, who_sees_the_end_sees_why) {
  explore<family>({[](family& w) { w.top->cancel(1); },
                   [](family& w) {
                     if (w.bottom->has_ended()) w.bottom->error();
                     if (w.middle->has_ended()) w.middle->error();
                   },
                   [](family& w) { w.bottom->cancel(2); }});
}

//    cancel top                               the last share of middle goes
//    take it out of the list                  shares 1 -> 0
//    try_retain: there is none                leave(): waits for the lock
//    unlock                                   free it
TEST(context_model, children_go_while_their_parent_ends) {
  explore<family>({[](family& w) { w.release(w.bottom); }, [](family& w) { w.release(w.middle); },
                   [](family& w) {
                     w.top->cancel(1);
                     w.top->memory.get();
                     w.release(w.top);
                   }},
                  [](family& w) { MODEL_CHECK(w.nfreed == 3, "a share is left"); });
}

// All are freed by whoever lets go last.
TEST(context_model, whoever_frees_it_sees_what_was_done_with_it) {
  explore<family>({[](family& w) {
                     w.middle->memory.get();
                     w.release(w.middle);
                   },
                   [](family& w) {
                     w.bottom->memory.get();
                     w.release(w.bottom);
                   },
                   [](family& w) {
                     w.top->memory.get();
                     w.release(w.top);
                   }},
                  [](family& w) { MODEL_CHECK(w.nfreed == 3, "a share is left"); });
}

// --- after_func ---

struct called : world {
  called() {
    release(bottom);
    middle->join();
    nfreed = 0;
  }
};

//    stop                                     the end
//    fate_ is taken: by us                    take it out of the list
//    leave(): waits, or takes it out          hold(): fate_ is taken: not called
//    give back the list's shares
TEST(context_model, a_call_is_made_or_stopped_and_its_shares_go_once) {
  struct entered : called {
    entered() { call->enter(&middle.get()); }
  };
  explore<entered>({[](entered& w) {
                      w.was_stopped = w.call->stop();
                      w.call->release();
                      w.release(w.middle);
                    },
                    [](entered& w) { w.top->cancel(1); }},
                   [](entered& w) {
                     MODEL_CHECK(w.ncalls + w.was_stopped == 1, "one or the other");
                     MODEL_CHECK(w.nfreed == 2, "a share is left");
                     w.release(w.top);
                   });
}

TEST(context_model, a_call_that_is_entered_while_it_ends_is_made_once) {
  explore<called>({[](called& w) {
                     w.call->enter(&w.middle.get());
                     w.call->release();
                     w.release(w.middle);
                   },
                   [](called& w) { w.top->cancel(1); }},
                  [](called& w) {
                    MODEL_CHECK(w.ncalls == 1, "it is called");
                    MODEL_CHECK(w.nfreed == 2, "a share is left");
                    w.release(w.top);
                  });
}

}  // namespace
}  // namespace weft::model
