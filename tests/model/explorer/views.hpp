// views.hpp: what a thread must have seen, for the stale-read memory.
//
// Each location keeps its history: the messages that were ever stored there, in order. A view says for each location how old a message may be
// that its owner can still read, and for each thread up to which of its releases the owner knows what that thread did.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::model {

inline constexpr unsigned kMaxThreads = 8;
inline constexpr unsigned kMaxLocations = 120;
inline constexpr unsigned kMaxTime = 250;

class view {
 public:
  std::uint8_t& of_thread(unsigned t) noexcept { return time_[t]; }
  std::uint8_t of_thread(unsigned t) const noexcept { return time_[t]; }
  std::uint8_t& of_location(unsigned l) noexcept { return time_[kMaxThreads + l]; }
  std::uint8_t of_location(unsigned l) const noexcept { return time_[kMaxThreads + l]; }

  void join(const view& other) noexcept {
    for (std::size_t i = 0; i < time_.size(); ++i) time_[i] = std::max(time_[i], other.time_[i]);
  }

 private:
  alignas(16) std::array<std::uint8_t, kMaxThreads + kMaxLocations> time_{};
};

struct message {
  std::uint64_t value;
  view carries;  // what whoever acquires it has seen afterwards
};

struct history {
  std::vector<message> messages;
  unsigned last_seq_cst = 0;  // no seq_cst load reads an older one

  void begin(std::uint64_t value) {
    messages.clear();
    messages.push_back({value, {}});
    last_seq_cst = 0;
  }
  unsigned newest() const noexcept { return static_cast<unsigned>(messages.size()) - 1; }
};

}  // namespace weft::model
