// contexts.cpp: an end comes once, to all below, and to nobody else.
#include <chrono>
#include <exception>
#include <stdexcept>
#include <string>

#include "scenario.hpp"

#include <weft/testing/bubble.hpp>
#include <weft/weft.hpp>

using namespace std::chrono_literals;
using weft::seeds::together;

namespace {

std::string text_of(const std::exception_ptr& e) {
  if (!e) return "";
  try {
    std::rethrow_exception(e);
  } catch (const std::exception& known) {
    return known.what();
  }
}

SCENARIO(context_seeds, all_below_have_ended_when_cancel_returns_and_nobody_beside) {
  const bool hangs_elsewhere = t.fault("a leaf hangs at another tree");
  const bool ends_too_much = t.fault("the whole tree is ended for a part of it");
  const bool has_no_value = t.fault("the value is set beside the way to the root");
  const auto root = weft::with_cancel(weft::background());
  const auto left = weft::with_cancel(root.ctx);
  const auto right = weft::with_timeout(root.ctx, 2ms);
  const auto above = has_no_value ? left.ctx : weft::with_value(left.ctx, "who", 7);
  const auto leaf = weft::with_cancel(hangs_elsewhere ? weft::background() : above);
  const auto until = weft::clock::now() + 2ms;
  bool is_root_cancelled = false;
  weft::wait_group all;
  all.go([&] {
    weft::sleep_for(1ms);
    if (ends_too_much) {
      root.cancel();
    } else {
      left.cancel();
    }
    t.must(left.ctx.err() && leaf.ctx.err(), "all below have ended when cancel returns");
    const bool may_have_ended = is_root_cancelled || weft::clock::now() >= until;
    t.must(!right.ctx.err() || may_have_ended, "what is beside goes on");
  });
  all.go([&] {
    const std::size_t which = weft::select(weft::on_done(leaf.ctx), weft::on_timeout(10ms));
    t.must(which == 0, "who waits for the end of a leaf learns of it");
    const int* const who = leaf.ctx.value<int>("who");
    t.must(who != nullptr && *who == 7, "a value is found from below, also after the end");
  });
  all.go([&] {
    right.ctx.done().recv();
    const std::error_code why = right.ctx.err();
    const bool is_time = why == weft::context_errc::deadline_exceeded;
    t.must(is_time ? weft::clock::now() >= until : is_root_cancelled,
           "a context ends by its time, or with its parent");
    weft::sleep_for(2ms);
    t.must(right.ctx.err() == why, "the reason stays what it was");
  });
  all.go([&, changes_its_mind = t.fault("somebody asks another context for the reason")] {
    right.ctx.done().recv();
    const std::error_code why = right.ctx.err();
    weft::sleep_for(2ms);
    t.must((changes_its_mind ? leaf.ctx : right.ctx).err() == why, "the reason stays what it was");
  });
  all.go([&] {
    weft::sleep_for(2ms);
    is_root_cancelled = true;
    root.cancel();
  });
  all.wait();
}

// Nobody else runs between the note of who is first and the call.
SCENARIO(context_seeds, the_first_cause_counts_for_everybody) {
  const bool dawdles = t.fault("somebody dawdles between its claim and its call");
  const auto root = weft::with_cause(weft::background());
  const auto child = weft::with_cancel(root.ctx);
  std::string first;
  together(4, [&](int i) {
    if (i == 3) {
      child.ctx.done().recv();
      t.must(text_of(child.ctx.cause()) == first, "a child has its parent's cause");
      return;
    }
    weft::sleep_for(i < 2 ? 1ms : 2ms);
    const std::string mine(1, static_cast<char>('a' + i));
    if (first.empty()) first = mine;
    if (dawdles) weft::yield();
    root.cancel(std::runtime_error(mine));
    t.must(text_of(root.ctx.cause()) == first, "the cause is the first that was given");
  });
}

SCENARIO(context_seeds, what_was_passed_before_the_end_is_passed_whole) {
  const bool miscounts = t.fault("what the end kept back counts as sent");
  auto c = weft::make_chan<int>(1);
  const auto made = weft::with_timeout(weft::background(), 3ms);
  int nsent = 0;
  int nreceived = 0;
  weft::wait_group all;
  for (int i = 0; i < 2; ++i) {
    all.go([&, i] {
      for (int k = 0; k < 6 && !made.ctx.err(); ++k) {
        if (c.send(k, made.ctx) || miscounts) ++nsent;
        weft::sleep_for(i * 1ms);
      }
    });
    all.go([&] {
      while (c.recv(made.ctx)) {
        ++nreceived;
        weft::sleep_for(1ms);
      }
    });
  }
  all.go([&] {
    weft::sleep_for(3ms);
    made.cancel();
  });
  all.wait();
  while (c.try_recv()) ++nreceived;
  t.must(nsent == nreceived, "what was sent is received or still there");
}

SCENARIO(context_seeds, a_function_at_the_end_is_called_once_or_was_stopped) {
  const bool trusts = t.fault("who stops does not look whether it came in time");
  for (int k = 0; k < 3; ++k) {
    const auto made = weft::with_timeout(weft::background(), 1ms);
    int ncalls = 0;
    bool is_stopped = false;
    const auto stop = weft::after_func(made.ctx, [&] { ++ncalls; });
    together(3, [&](int i) {
      if (i > 0) weft::sleep_for(1ms);
      if (i == 2) {
        is_stopped = stop() || trusts;
      } else if (k != i) {
        made.cancel();
      }
    });
    weft::testing::wait();  // it runs in a goroutine of its own
    t.must(ncalls + static_cast<int>(is_stopped) == 1, "it is called once, or was stopped");
  }
}

}  // namespace
