// fuzz.hpp: what the fuzz targets share.
//
//   FUZZ_TARGET(max_procs) {                              // std::string_view input: any bytes at all
//     const fuzz::exact value(input);
//     promise(os::parse_max_procs(value, 8, hear) <= 8, "the limit holds");
//   }
//
// A target takes bytes from anybody, hands them to a parser, and says what must hold of the result, whatever the bytes were: that is more than
// not to crash. The same function is run by libFuzzer (lane `fuzz`, with the sanitizers) and, over its corpus and what is near to it, by
// `make test` (corpus_test.cpp).
//
// Parsers get an exact copy of their piece: one byte read beyond it is a read beyond an allocation, which AddressSanitizer sees.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace weft::fuzz {

struct target {
  const char* name;
  void (*run)(std::string_view input);
};

// Those that were linked in: all of them in the tests, one in a fuzzer.
inline std::vector<target>& targets() {
  static std::vector<target> all;
  return all;
}

struct registration {
  registration(const char* name, void (*run)(std::string_view)) {
    targets().push_back({name, run});
  }
};

struct broken_promise : std::logic_error {
  using std::logic_error::logic_error;
};

// Not to be called from a callback of what is noexcept: collect there, and judge afterwards.
inline void promise(bool holds, const char* what) {
  if (!holds) throw broken_promise(what);
}

// A piece of text in memory of just its size.
class exact {
 public:
  explicit exact(std::string_view from) : size_(from.size()), chars_(new char[from.size()]) {
    std::copy(from.begin(), from.end(), chars_.get());
  }
  std::string_view view() const noexcept { return {chars_.get(), size_}; }
  operator std::string_view() const noexcept { return view(); }

  bool holds(std::string_view part) const noexcept {
    return part.data() >= chars_.get() && part.data() + part.size() <= chars_.get() + size_;
  }

 private:
  std::size_t size_;
  std::unique_ptr<char[]> chars_;
};

// A message is one line that a terminal can show: it forges no second one, and says nothing to the terminal.
inline bool is_one_printable_line(std::string_view text) noexcept {
  if (text.size() < 2 || text.back() != '\n') return false;
  text.remove_suffix(1);
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

}  // namespace weft::fuzz

#define FUZZ_TARGET(name)                                                                          \
  static void fuzz_body_of_##name(std::string_view input);                                         \
  static const ::weft::fuzz::registration fuzz_registration_of_##name(#name, fuzz_body_of_##name); \
  static void fuzz_body_of_##name(std::string_view input)
