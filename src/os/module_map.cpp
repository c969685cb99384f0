// module_map.cpp: see module_map.hpp.
#include "os/module_map.hpp"

#include <cstring>
#include <span>

#include "os/line_reader.hpp"

namespace weft::os {

namespace {

// Reads a hexadecimal number off the front.
std::uintptr_t take_hex(std::string_view& s) noexcept {
  std::uintptr_t value = 0;
  while (!s.empty()) {
    const char c = s.front();
    const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (digit < 0) break;
    value = value * 16 + static_cast<std::uintptr_t>(digit);
    s.remove_prefix(1);
  }
  return value;
}

struct region {
  std::uintptr_t low, high, offset;
  std::string_view path;
};

// "559a-559b r-xp 00001000 08:01 1234    /usr/bin/server"
region parse(std::string_view line) noexcept {
  region r{};
  r.low = take_hex(line);
  if (!line.empty()) line.remove_prefix(1);
  r.high = take_hex(line);
  const std::size_t offset_at = line.find(' ', 1);
  if (offset_at == std::string_view::npos) return r;
  line.remove_prefix(offset_at + 1);
  r.offset = take_hex(line);
  const std::size_t path_at = line.find('/');
  if (path_at != std::string_view::npos) r.path = line.substr(path_at);
  return r;
}

// A program linked for a fixed address counts from zero. The ELF header is mapped at the beginning of every module.
bool is_at_fixed_address(std::uintptr_t base) noexcept {
  constexpr std::size_t kTypeAt = 16;       // e_type
  constexpr std::uint16_t kExecutable = 2;  // ET_EXEC
  std::uint16_t type;
  std::memcpy(&type, reinterpret_cast<const char*>(base) + kTypeAt, sizeof type);
  return type == kExecutable;
}

}  // namespace

void describe_address(text& out, const void* address) noexcept {
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  char buffer[1024];
  std::uintptr_t base = 0;  // where the module that is being listed begins
  raw_file maps("/proc/self/maps");
  line_reader lines(maps, std::span<char>(buffer));
  for (std::string_view line; maps.is_open() && lines.next(line);) {
    const region r = parse(line);
    if (r.path.empty()) continue;
    if (r.offset == 0) base = r.low;
    if (wanted < r.low || wanted >= r.high) continue;
    if (base == 0) break;  // the line with the module's beginning was too long
    out << r.path.substr(r.path.rfind('/') + 1) << '+'
        << hex{wanted - (is_at_fixed_address(base) ? 0 : base)};
    return;
  }
  out << hex{wanted};
}

}  // namespace weft::os
