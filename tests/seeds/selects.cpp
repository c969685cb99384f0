// selects.cpp: of several cases one happens, whole, and no other.
#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "scenario.hpp"

#include <weft/weft.hpp>

using namespace std::chrono_literals;
using weft::seeds::together;

namespace {

// Each offers what it has and takes what others offer, on one channel: both ends of a deal are in a select.
SCENARIO(select_seeds, tokens_are_neither_lost_nor_doubled) {
  const bool forgets = t.fault("who buys forgets what it was to sell");
  const bool keeps = t.fault("who has sold keeps it");
  constexpr int kTraders = 4;
  auto market = weft::make_chan<int>();
  std::vector<int> bags[kTraders];
  for (int v = 0; v < 2 * kTraders; ++v) bags[v / 2].push_back(v);
  together(kTraders, [&](int i) {
    std::vector<int>& bag = bags[i];
    const auto take = [&](std::optional<int> v) { bag.push_back(*v); };
    for (int k = 0; k < 5; ++k) {
      if (bag.empty()) {
        weft::select(weft::on_recv(market, take), weft::on_timeout(1ms));
        continue;
      }
      const int mine = bag.front();
      bag.erase(bag.begin());
      const std::size_t which =
          weft::select(weft::on_send(market, mine), weft::on_recv(market, take),
                       weft::on_timeout((i + 1) * 1ms));
      const bool is_sold = which == 0 && !keeps;
      if (!is_sold && !(which == 1 && forgets)) bag.push_back(mine);
    }
  });
  std::vector<int> all;
  for (const auto& bag : bags) all.insert(all.end(), bag.begin(), bag.end());
  std::ranges::sort(all);
  bool is_whole = all.size() == 2 * kTraders;
  for (std::size_t v = 0; is_whole && v < all.size(); ++v) is_whole = all[v] == static_cast<int>(v);
  t.must(is_whole, "each token is in one bag");
}

SCENARIO(select_seeds, default_is_taken_only_when_nothing_is_ready) {
  const bool boasts = t.fault("the sender counts what it has not sent yet");
  auto c = weft::make_chan<int>(3);
  int nready = 0;  // sends that have returned, less what was received
  auto sender = weft::spawn([&] {
    for (int k = 0; k < 6; ++k) {
      if (boasts) {
        ++nready;
        weft::yield();
      }
      c.send(k);
      if (!boasts) ++nready;
    }
  });
  for (int nreceived = 0; nreceived < 6;) {
    const bool is_ready = nready > 0;
    const std::size_t which = weft::select(weft::on_recv(c), weft::otherwise());
    t.must(!is_ready || which == 0, "what is ready is taken");
    if (which == 0) {
      --nready;
      ++nreceived;
    } else {
      weft::yield();
    }
  }
  sender.join();
}

SCENARIO(select_seeds, a_channel_set_to_nil_is_never_chosen_again) {
  const bool stays = t.fault("a closed channel stays in the select");
  weft::chan<int> from[2] = {weft::make_chan<int>(), weft::make_chan<int>(1)};
  const weft::chan<int> both[2] = {from[0], from[1]};
  weft::wait_group senders;
  for (const auto& c : both) {
    senders.go([c] {
      for (int k = 0; k < 3; ++k) c.send(k);
      c.close();
    });
  }
  int nreceived = 0;
  for (int nopen = 2; nopen > 0;) {
    bool is_end = false;
    const auto count = [&](std::optional<int> v) { v ? ++nreceived : is_end = true; };
    const std::size_t which =
        weft::select(weft::on_recv(from[0], count), weft::on_recv(from[1], count));
    if (!is_end) continue;
    --nopen;
    if (!stays) from[which] = {};
  }
  t.must(nreceived == 6, "all of both have come when both have ended");
  for (const auto& c : both)
    while (c.recv()) {  // so that the senders end
    }
  senders.wait();
}

SCENARIO(select_seeds, a_list_gives_back_what_it_did_not_send) {
  const bool forgets = t.fault("what was not sent is forgotten");
  const bool hastes = t.fault("what is sent is looked for too soon");
  constexpr int kChannels = 3;
  using parcel = std::unique_ptr<int>;
  std::vector<weft::chan<parcel>> to;
  for (int i = 0; i < kChannels; ++i) to.push_back(weft::make_chan<parcel>());
  std::vector<int> nseen(kChannels, 0);
  weft::wait_group receivers;
  for (int i = 0; i < kChannels; ++i) {
    receivers.go([&, i] {
      weft::sleep_for(i * 1ms);
      if (const auto p = to[i].recv_for(1ms)) ++nseen[**p];
    });
  }
  weft::select_list list;
  for (int i = 0; i < kChannels; ++i) list.add(weft::on_send(to[i], std::make_unique<int>(i)));
  const auto count_unsent = [&] {
    for (int i = 0; i < kChannels; ++i)
      if (const parcel* const p = list.unsent<parcel>(i)) ++nseen[**p];
  };
  if (hastes) count_unsent();
  for (int k = 0; k < 2; ++k) list.wait_for(1ms);
  if (!forgets && !hastes) count_unsent();
  receivers.wait();
  t.must(std::ranges::count(nseen, 1) == kChannels,
         "each parcel is received or given back, not both");
}

}  // namespace
