// resp.cpp: what a client may send to the example resp_server. However the bytes come in, the requests are the same; each gets exactly one
// answer, which is well-formed.
//
// Input: a byte that says how many bytes come at a time, then what is sent.
#include "../../../examples/resp.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include "fuzz/fuzz.hpp"

namespace weft {
namespace {

using fuzz::promise;

// A connection whose other side sends this.
class sender {
 public:
  sender(std::string_view all, std::size_t at_a_time) : left_(all), at_a_time_(at_a_time) {}
  std::size_t read_some(std::span<char> room, std::error_code&) {
    const std::size_t n = std::min({left_.size(), at_a_time_, room.size()});
    std::copy_n(left_.data(), n, room.data());
    left_.remove_prefix(n);
    return n;
  }

 private:
  std::string_view left_;
  std::size_t at_a_time_;
};

std::vector<resp::request> requests_in(std::string_view sent, std::size_t at_a_time) {
  sender from(sent, at_a_time);
  resp::input in(from);
  std::vector<resp::request> all;
  while (auto words = resp::read_request(in)) all.push_back(std::move(*words));
  return all;
}

std::string print(const resp::request& words) {
  std::string all = "*" + std::to_string(words.size()) + "\r\n";
  for (const std::string& word : words)
    all += "$" + std::to_string(word.size()) + "\r\n" + word + "\r\n";
  return all;
}

// Takes one answer off the front; false: that is none.
bool take_answer(std::string_view& out) {
  const std::size_t end = out.find("\r\n");
  if (end == out.npos || end == 0) return false;
  const char kind = out.front();
  const std::string_view line = out.substr(1, end - 1);
  out.remove_prefix(end + 2);
  if (line.find_first_of("\r\n") != line.npos) return false;
  if (kind == '+' || kind == '-') return true;
  const auto n = resp::number(line);
  if (kind == ':') return n.has_value();
  if (kind == '*') return n == 0;
  if (kind != '$' || !n || *n < -1) return false;
  if (*n == -1) return true;
  const auto size = static_cast<std::size_t>(*n);
  if (out.size() < size + 2 || out.substr(size, 2) != "\r\n") return false;
  out.remove_prefix(size + 2);
  return true;
}

}  // namespace

FUZZ_TARGET(resp) {
  if (input.empty()) return;
  const std::size_t at_a_time = 1 + static_cast<unsigned char>(input.front()) % 16;
  const fuzz::exact sent(input.substr(1));
  const auto requests = requests_in(sent, sent.view().size());
  promise(requests_in(sent, at_a_time) == requests, "it does not matter how the bytes come in");

  resp::store all;
  for (const resp::request& words : requests) {
    promise(!words.empty(), "a request has a word");
    promise(requests_in(print(words), 4096) == std::vector<resp::request>{words},
            "a request can be sent again");
    std::string out;
    all.answer(words, out);
    std::string_view left = out;
    promise(take_answer(left) && left.empty(), "a request gets one answer");
  }
}

}  // namespace weft
