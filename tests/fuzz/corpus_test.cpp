// corpus_test.cpp: every fuzz target over its corpus, and over what is near to it. Needs no libFuzzer.
//
// The corpus of a target is the folder corpus/<its name>. An input that once broke a promise is put there, and stays.
#include <gtest/gtest.h>

#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "fuzz/fuzz.hpp"
#include "fuzz/mutate.hpp"
#include "support/for_procs.hpp"

namespace {

using weft::fuzz::target;

constexpr int kNearEach = 2000;

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::map<std::string, std::string> corpus_of(const target& t) {
  std::map<std::string, std::string> all;
  const std::filesystem::path folder = std::filesystem::path(WEFT_FUZZ_CORPUS) / t.name;
  if (!std::filesystem::is_directory(folder)) return all;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    all[entry.path().filename().string()] = read(entry.path());
  return all;
}

// As it can be pasted into a shell's printf.
std::string shown(std::string_view input) {
  std::string all;
  for (const char c : input) {
    if (c > ' ' && c <= '~' && c != '\\' && c != '%' && c != '\'') {
      all += c;
    } else {
      constexpr char kDigits[] = "01234567";
      const auto n = static_cast<unsigned char>(c);
      all += {'\\', kDigits[n >> 6], kDigits[(n >> 3) & 7], kDigits[n & 7]};
    }
  }
  return all;
}

testing::AssertionResult keeps_its_promises(const target& t, std::string_view input) {
  try {
    t.run(input);
    return testing::AssertionSuccess();
  } catch (const std::exception& e) {
    return testing::AssertionFailure() << e.what() << "\ninput: " << shown(input);
  }
}

class fuzz_corpus : public testing::TestWithParam<target> {};

TEST_P(fuzz_corpus, promises_hold_for_every_input) {
  const auto corpus = corpus_of(GetParam());
  EXPECT_FALSE(corpus.empty()) << "there is no corpus/" << GetParam().name;
  for (const auto& [name, input] : corpus)
    EXPECT_TRUE(keeps_its_promises(GetParam(), input)) << name;
}

TEST_P(fuzz_corpus, promises_hold_near_every_input) {
  weft::fuzz::mutator mutator(weft::test::seed());
  for (const auto& [name, input] : corpus_of(GetParam())) {
    for (int i = 0; i < weft::test::scaled(kNearEach); ++i) {
      const std::string other = mutator.near(input);
      ASSERT_TRUE(keeps_its_promises(GetParam(), other)) << "near " << name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(all, fuzz_corpus, testing::ValuesIn(weft::fuzz::targets()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(fuzz_corpus_itself, has_a_target_for_every_folder) {
  std::map<std::string, bool> known;
  for (const target& t : weft::fuzz::targets()) known[t.name] = true;
  for (const auto& entry : std::filesystem::directory_iterator(WEFT_FUZZ_CORPUS)) {
    const std::string name = entry.path().filename().string();
#if !WEFT_FUZZ_TLS
    if (name.starts_with("tls_")) continue;
#endif
    EXPECT_TRUE(known[name]) << name;
  }
}

TEST(fuzz_corpus_itself, shows_the_input_that_breaks_a_promise) {
  const target wrong{"wrong", [](std::string_view input) {
                       weft::fuzz::promise(input.size() < 3, "inputs are short");
                     }};
  EXPECT_TRUE(keeps_its_promises(wrong, "ab"));
  const auto verdict = keeps_its_promises(wrong, "a\n%");
  EXPECT_FALSE(verdict);
  EXPECT_STREQ(verdict.message(), "inputs are short\ninput: a\\012\\045");
}

}  // namespace
