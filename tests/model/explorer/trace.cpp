// trace.cpp: what an execution does, in words. Part of the engine; nothing here runs while it explores.
#include <cinttypes>
#include <cstdio>

#include "explorer/engine.hpp"

namespace weft::model {

namespace {

const char* order_name(std::memory_order o) noexcept {
  switch (o) {
    case std::memory_order_relaxed:
      return "relaxed";
    case std::memory_order_consume:
      return "consume";
    case std::memory_order_acquire:
      return "acquire";
    case std::memory_order_release:
      return "release";
    case std::memory_order_acq_rel:
      return "acq_rel";
    case std::memory_order_seq_cst:
      return "seq_cst";
  }
  return "?";
}

std::string number(std::uint64_t v) {
  char text[32];
  std::snprintf(text, sizeof text, v < 4096 ? "%" PRIu64 : "0x%" PRIx64, v);
  return text;
}

}  // namespace

void engine::label(const void* from, std::size_t bytes, const char* name) {
  if (is_tracing) labels_.push_back({static_cast<const std::byte*>(from), bytes, name});
}

// The label that fits most closely.
std::string engine::name_of(const cell& c) const {
  const auto* const at = reinterpret_cast<const std::byte*>(&c);
  const label_range* best = nullptr;
  for (const label_range& l : labels_) {
    if (at >= l.from && at < l.from + l.bytes && (best == nullptr || l.bytes <= best->bytes))
      best = &l;
  }
  const std::string id = "#" + std::to_string(c.id);
  if (best == nullptr) return id;
  const auto offset = at - best->from;
  return std::string(best->name) + (offset != 0 ? "+" + std::to_string(offset) : "") + " (" + id +
         ")";
}

void engine::say(const std::string& text) {
  if (!is_tracing) return;
  const std::string who =
      current_ < kMaxThreads ? std::string(1, static_cast<char>('a' + current_)) : "-";
  trace.push_back(who + "  " + text);
}

void engine::tell(const char* what, const cell& c, std::memory_order order, std::uint64_t value) {
  say(std::string(what) + " " + name_of(c) + ": " + number(value) + "  " + order_name(order));
}

void engine::tell(const char* what, const cell& c, std::memory_order order, std::uint64_t old,
                  std::uint64_t now) {
  say(std::string(what) + " " + name_of(c) + ": " + number(old) + " -> " + number(now) + "  " +
      order_name(order));
}

}  // namespace weft::model
