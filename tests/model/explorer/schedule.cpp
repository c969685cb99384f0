// schedule.cpp: see schedule.hpp.
#include "explorer/schedule.hpp"

namespace weft::model {

namespace {

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

// The number at the front, which is taken off; `otherwise` if there is none.
unsigned take_number(std::string_view& text, unsigned otherwise) {
  if (text.empty() || !is_digit(text.front())) return otherwise;
  unsigned n = 0;
  for (; !text.empty() && is_digit(text.front()); text.remove_prefix(1))
    n = n * 10 + static_cast<unsigned>(text.front() - '0');
  return n;
}

}  // namespace

std::string write_schedule(const schedule& recorded) {
  std::string text;
  for (std::size_t i = 0; i < recorded.size();) {
    std::size_t end = i + 1;
    while (end < recorded.size() && recorded[end] == recorded[i]) ++end;
    if ((recorded[i] & kValue) != 0) {
      text += '/' + std::to_string(recorded[i] & ~kValue);
      ++i;
      continue;
    }
    text += static_cast<char>('a' + recorded[i]);
    if (end - i > 1) text += std::to_string(end - i);
    i = end;
  }
  return text;
}

std::optional<schedule> read_schedule(std::string_view text) {
  schedule s;
  while (!text.empty()) {
    const char c = text.front();
    text.remove_prefix(1);
    if (c == ' ') continue;
    if (c == '/') {
      s.push_back(static_cast<std::uint8_t>(take_number(text, 0)));
    } else if (c >= 'a' && c <= 'h') {
      s.insert(s.end(), take_number(text, 1), static_cast<std::uint8_t>(c - 'a'));
    } else {
      return std::nullopt;
    }
  }
  return s;
}

}  // namespace weft::model
