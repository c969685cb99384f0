// test_support.hpp: what the tests of this layer share: a made-up root directory, and rubbish made from good input.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace weft::os::test {

// A directory that stands for "/" and goes away at the end.
class fake_root {
 public:
  fake_root() {
    std::string pattern = (std::filesystem::temp_directory_path() / "weft-root-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp: " + pattern);
    path_ = pattern;
  }
  ~fake_root() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  fake_root(const fake_root&) = delete;
  fake_root& operator=(const fake_root&) = delete;

  const char* c_str() const { return path_.c_str(); }
  std::string at(std::string_view name) const { return path_ + std::string(name); }

  void write(std::string_view name, std::string_view content) {
    const std::filesystem::path file = at(name);
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << content;
  }
  void remove(std::string_view name) { std::filesystem::remove_all(at(name)); }

 private:
  std::string path_;
};

// Calls use() with n mutations of the seeds: bytes changed, dropped, doubled, pieces of other seeds spliced in, cut short.
// Each stands in a block of exactly its size, so that AddressSanitizer sees the first byte read beyond it.
template <class Use>
void for_each_mutation(std::span<const std::string_view> seeds, int n, Use use) {
  std::mt19937_64 rng(20240607);
  const auto below = [&rng](std::size_t bound) {
    return bound == 0 ? 0 : static_cast<std::size_t>(rng() % bound);
  };
  constexpr std::string_view kSpicy = ":/ ,=-\\0017\n.)(9kKmax";
  for (int i = 0; i < n; ++i) {
    std::string input(seeds[below(seeds.size())]);
    for (std::size_t left = 1 + below(6); left > 0; --left) {
      const std::size_t at = below(input.size());
      const std::string_view other = seeds[below(seeds.size())];
      switch (below(6)) {
        case 0:
          if (!input.empty()) input[at] = static_cast<char>(rng());
          break;
        case 1:
          if (!input.empty()) input[at] = kSpicy[below(kSpicy.size())];
          break;
        case 2:
          input.erase(at, 1 + below(8));
          break;
        case 3:
          input.insert(at, 1 + below(3), kSpicy[below(kSpicy.size())]);
          break;
        case 4:
          input.insert(at, other.substr(below(other.size()), below(40)));
          break;
        default:
          input.resize(at);
          break;
      }
    }
    const auto exact = std::make_unique<char[]>(input.size());
    input.copy(exact.get(), input.size());
    use(std::string_view(exact.get(), input.size()));
  }
}

}  // namespace weft::os::test
