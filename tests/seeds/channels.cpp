// channels.cpp: what is sent arrives once, in order, and nobody is told that the time is over before it is.
#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <vector>

#include "scenario.hpp"

#include <weft/weft.hpp>

using namespace std::chrono_literals;
using weft::seeds::together;

namespace {

SCENARIO(chan_seeds, tokens_arrive_once_and_in_their_senders_order) {
  constexpr int kSenders = 3;
  constexpr int kEach = 4;
  const bool drops = t.fault("a relay drops what there is no room for");
  const int nrelays = t.fault("two relays overtake one another") ? 2 : 1;
  auto in = weft::make_chan<int>();
  auto out = weft::make_chan<int>(2);
  std::map<int, int> narrived;
  weft::wait_group senders;
  weft::wait_group relays;
  weft::wait_group receivers;
  for (int s = 0; s < kSenders; ++s) {
    senders.go([&, s] {
      for (int k = 0; k < kEach; ++k) in.send(100 * s + k);
    });
  }
  for (int i = 0; i < nrelays; ++i) {
    relays.go([&] {
      for (const int v : in) {
        if (drops) {
          out.try_send(v);
        } else {
          out.send(v);
        }
      }
    });
  }
  for (int i = 0; i < 2; ++i) {
    receivers.go([&] {
      std::vector<int> last(kSenders, -1);
      for (const int v : out) {
        ++narrived[v];
        t.must(v % 100 > last[v / 100], "what one sender sent arrives in its order");
        last[v / 100] = v % 100;
      }
    });
  }
  senders.wait();
  in.close();
  relays.wait();
  out.close();
  receivers.wait();
  t.must(narrived.size() == kSenders * kEach &&
             std::ranges::all_of(narrived, [](const auto& each) { return each.second == 1; }),
         "each token arrives once");
}

// Nobody else runs between a number that is drawn and the call in which its owner queues up.
SCENARIO(chan_seeds, senders_and_receivers_are_served_first_come_first) {
  const bool sender_dawdles = t.fault("a sender dawdles between its number and its turn");
  const bool receiver_dawdles = t.fault("a receiver dawdles between its number and its turn");
  auto c = weft::make_chan<int>(1);
  int nsent = 0;
  std::vector<int> arrived;
  weft::wait_group senders;
  for (int i = 0; i < 4; ++i) {
    senders.go([&] {
      for (int k = 0; k < 3; ++k) {
        const int mine = nsent++;
        if (sender_dawdles) weft::yield();
        c.send(mine);
      }
    });
  }
  auto reader = weft::spawn([&] {
    for (const int v : c) arrived.push_back(v);
  });
  senders.wait();
  c.close();
  reader.join();
  t.must(std::ranges::is_sorted(arrived), "values arrive in the order in which their senders came");

  auto d = weft::make_chan<int>();
  int ncame = 0;
  weft::wait_group receivers;
  for (int i = 0; i < 4; ++i) {
    receivers.go([&] {
      for (int k = 0; k < 2; ++k) {
        const int mine = ncame++;
        if (receiver_dawdles) weft::yield();
        t.must(d.recv() == mine, "receivers are served in the order in which they came");
      }
    });
  }
  for (int k = 0; k < 8; ++k) d.send(k);
  receivers.wait();
}

SCENARIO(chan_seeds, what_was_sent_before_close_is_received_and_close_comes_once) {
  const bool miscounts = t.fault("what the closed channel refused counts as sent");
  const bool leaves = t.fault("receivers leave as soon as it is closed");
  const bool closes_twice = t.fault("who finds it closed has closed it too");
  auto c = weft::make_chan<int>(2);
  int nsent = 0;
  int nreceived = 0;
  int nclosed = 0;
  weft::wait_group all;
  for (int i = 0; i < 3; ++i) {
    all.go([&] {
      try {
        for (int k = 0; k < 5; ++k) {
          c.send(k);
          ++nsent;
        }
      } catch (const weft::closed_channel&) {
        if (miscounts) ++nsent;
      }
    });
  }
  for (int i = 0; i < 2; ++i) {
    all.go([&] {
      while (!(leaves && c.closed()) && c.recv()) ++nreceived;
    });
    all.go([&, i] {
      for (int k = 0; k < 4 * i; ++k) weft::yield();
      try {
        c.close();
        ++nclosed;
      } catch (const weft::closed_channel&) {
        if (closes_twice) ++nclosed;
      }
    });
  }
  all.wait();
  t.must(nsent == nreceived, "all that was sent is received, and nothing else");
  t.must(nclosed == 1, "one of two closes it");
}

SCENARIO(chan_seeds, signals_in_a_buffer_are_so_many_rooms) {
  const bool intrudes = t.fault("one comes in without a signal");
  const bool hastes = t.fault("who finds nobody to tell tells nobody");
  auto rooms = weft::make_chan<void>(2);
  auto told = weft::make_chan<void>();
  int ninside = 0;
  int ntold = 0;
  auto listener = weft::spawn([&] {
    while (told.recv()) ++ntold;
  });
  together(4, [&](int i) {
    const bool is_let_in = i != 0 || !intrudes;
    for (int k = 0; k < 2; ++k) {
      if (is_let_in) rooms.send();
      t.must(++ninside <= 2, "no more are inside than there are rooms");
      weft::yield();
      --ninside;
      if (is_let_in) rooms.recv();
      if (hastes) {
        told.try_send();
      } else {
        told.send();
      }
    }
  });
  told.close();
  listener.join();
  t.must(ntold == 8, "every signal is heard");
}

SCENARIO(chan_seeds, a_limit_is_never_early_and_loses_nothing) {
  const bool miscounts = t.fault("what nobody took in time counts as sent");
  const auto limit = t.fault("somebody gives up too soon") ? 1ms : 2ms;
  auto c = weft::make_chan<int>();
  int nsent = 0;
  int nreceived = 0;
  const auto check_end = [&](weft::time_point began) {
    t.must(weft::clock::now() - began >= 2ms, "nobody gives up before the time is over");
  };
  together(4, [&](int i) {
    for (int k = 0; k < 3; ++k) {
      const auto began = weft::clock::now();
      if (i < 2) {
        const bool is_sent = c.send_for(k, 2ms);
        if (is_sent || miscounts) ++nsent;
        if (!is_sent) check_end(began);
      } else {
        if (c.recv_for(limit)) {
          ++nreceived;
        } else {
          check_end(began);
        }
        weft::sleep_for(k * 1ms + (i - 2) * 2ms);
      }
    }
  });
  t.must(nsent == nreceived, "what was sent in time is received, and nothing else");
}

}  // namespace
