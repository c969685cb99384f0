// mutate.hpp: inputs near to a given one, for those who have no libFuzzer at hand. It learns nothing from what it finds: it only looks
// around the corpus.
#pragma once

#include <cstddef>
#include <random>
#include <string>
#include <string_view>

namespace weft::fuzz {

class mutator {
 public:
  explicit mutator(std::uint64_t seed) : random_(seed) {}

  // One to four changes.
  std::string near(std::string_view input) {
    std::string changed(input);
    for (std::size_t left = 1 + below(4); left > 0; --left) change(changed);
    return changed;
  }

 private:
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_() % n); }

  // Characters that mean something to some parser, and any other.
  char a_character() {
    constexpr std::string_view kTelling = "0123456789abcfkKmMG:[]%@/\\.,=-+ \n\r\t*$";
    return below(4) == 0 ? static_cast<char>(below(256)) : kTelling[below(kTelling.size())];
  }

  void change(std::string& text) {
    const std::size_t at = below(text.size() + 1);
    const std::size_t n = below(text.size() - at + 1);
    switch (below(6)) {
      case 0:
        text.insert(at, 1, a_character());
        break;
      case 1:
        text.erase(at, 1 + below(3));
        break;
      case 2:
        if (at < text.size()) text[at] = a_character();
        break;
      case 3:
        text.insert(at, text.substr(at, n));
        break;
      case 4:
        text.resize(at);
        break;
      default:
        if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
        break;
    }
    if (text.size() > kLongest) text.resize(kLongest);
  }

  static constexpr std::size_t kLongest = 8192;
  std::mt19937_64 random_;
};

}  // namespace weft::fuzz
