// max_procs.cpp: WEFT_MAXPROCS with anything in it: exactly the numbers from 1 to the limit are taken, and all else costs one line.
//
// Input: the limit, a line feed, the value.
#include <algorithm>
#include <string>
#include <vector>

#include "fuzz/fuzz.hpp"
#include "os/environment.hpp"
#include "os/parse.hpp"

namespace weft {
namespace {

using fuzz::promise;

std::vector<std::string> said;
void hear(std::string_view line) { said.emplace_back(line); }

// By hand: digits only, leading zeros as one likes.
bool is_good(std::string_view value, unsigned limit) {
  if (value.empty() ||
      !std::all_of(value.begin(), value.end(), [](char c) { return c >= '0' && c <= '9'; }))
    return false;
  value.remove_prefix(std::min(value.find_first_not_of('0'), value.size()));
  const std::string most = std::to_string(limit);
  if (value.empty() || value.size() > most.size()) return false;
  return value.size() < most.size() || value <= most;
}

}  // namespace

FUZZ_TARGET(max_procs) {
  std::string_view rest = input;
  const unsigned limit = os::parse_number<unsigned>(os::take_field(rest, '\n')).value_or(1024);
  const fuzz::exact value(rest);
  said.clear();
  const unsigned count = os::parse_max_procs(value, limit, hear);

  promise(count <= limit, "the limit holds");
  promise((count != 0) == is_good(value, limit),
          "exactly the numbers from 1 to the limit are taken");
  promise(said.size() == (count == 0 ? 1 : 0), "one line if it is ignored, none if it is not");
  for (const std::string& line : said) {
    promise(line.starts_with("weft: "), "a message says whose it is");
    promise(fuzz::is_one_printable_line(line), "a message is one printable line");
  }
  if (count != 0)
    promise(os::parse_max_procs(fuzz::exact(std::to_string(count)), limit, hear) == count,
            "what was taken can be written down");
}

}  // namespace weft
