// resp.hpp: the protocol of resp_server.cpp: requests read from a connection, and a store that answers them.
//
// A connection is anything with read_some(room, ec), as weft::net::conn has it: tests/fuzz reads from memory.
#pragma once

#include <charconv>
#include <limits>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

#include <weft/mutex.hpp>

namespace resp {

using request = std::vector<std::string>;

// What the other side has sent and nobody has used yet.
template <class Conn>
class input {
 public:
  explicit input(Conn c) : conn_(std::move(c)) {}

  // Up to the next line feed, without the line's end. Nothing: the stream has ended.
  std::optional<std::string> line() {
    for (;;) {
      if (const std::size_t end = text_.find('\n', at_); end != std::string::npos) {
        std::string result = text_.substr(at_, end - at_);
        at_ = end + 1;
        if (!result.empty() && result.back() == '\r') result.pop_back();
        return result;
      }
      if (!more()) return {};
    }
  }

  // So many bytes, and the line's end after them.
  std::optional<std::string> bytes(std::size_t n) {
    while (text_.size() - at_ < n + 2) {
      if (!more()) return {};
    }
    std::string result = text_.substr(at_, n);
    at_ += n + 2;
    return result;
  }

  bool is_used_up() const { return at_ == text_.size(); }

 private:
  bool more() {
    text_.erase(0, std::exchange(at_, 0));
    char room[16384];
    std::error_code ec;
    const std::size_t n = conn_.read_some(room, ec);
    text_.append(room, n);
    return n != 0;
  }

  Conn conn_;
  std::string text_;
  std::size_t at_ = 0;
};

inline std::optional<long> number(std::string_view text) {
  long n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return n;
}

// Nothing: the connection has ended, or sends rubbish.
template <class Conn>
std::optional<request> read_request(input<Conn>& in) {
  constexpr long kMost = 1 << 20;
  const auto head = in.line();
  if (!head || head->empty() || head->front() != '*') return {};
  const auto nwords = number(std::string_view(*head).substr(1));
  if (!nwords || *nwords < 1 || *nwords > kMost) return {};
  request words;
  for (long i = 0; i < *nwords; ++i) {
    const auto size_line = in.line();
    if (!size_line || size_line->empty() || size_line->front() != '$') return {};
    const auto size = number(std::string_view(*size_line).substr(1));
    if (!size || *size < 0 || *size > kMost) return {};
    auto word = in.bytes(static_cast<std::size_t>(*size));
    if (!word) return {};
    words.push_back(std::move(*word));
  }
  return words;
}

inline void say_number(std::string& out, char kind, long n) {
  out += kind;
  out.append(std::to_string(n)).append("\r\n");
}

inline void say_text(std::string& out, std::string_view text) {
  say_number(out, '$', static_cast<long>(text.size()));
  out.append(text).append("\r\n");
}

// A line feed in it would begin another answer.
inline std::string printable(std::string text) {
  for (char& c : text) c = c >= ' ' && c <= '~' ? c : '?';
  return text;
}

class store {
 public:
  void answer(const request& words, std::string& out) {
    std::string name = words[0];
    for (char& c : name) c = static_cast<char>(c & ~0x20);  // to upper case
    const std::size_t n = words.size();
    const std::scoped_lock held(mutex_);
    if (name == "PING") {
      out += "+PONG\r\n";
    } else if (name == "ECHO" && n == 2) {
      say_text(out, words[1]);
    } else if (name == "SET" && n >= 3) {
      values_[words[1]] = words[2];
      out += "+OK\r\n";
    } else if (name == "GET" && n == 2) {
      get(words[1], out);
    } else if (name == "DEL" && n == 2) {
      say_number(out, ':', static_cast<long>(values_.erase(words[1])));
    } else if (name == "INCR" && n == 2) {
      increment(values_[words[1]], out);
    } else if (name == "DBSIZE") {
      say_number(out, ':', static_cast<long>(values_.size()));
    } else if (name == "CONFIG" || name == "COMMAND") {  // what clients ask to get to know it
      out += "*0\r\n";
    } else {
      out.append("-ERR unknown command '").append(printable(words[0]));
      out.append("', or the number of its arguments is wrong\r\n");
    }
  }

 private:
  void get(const std::string& key, std::string& out) {
    const auto it = values_.find(key);
    if (it == values_.end()) {
      out += "$-1\r\n";
    } else {
      say_text(out, it->second);
    }
  }

  static void increment(std::string& value, std::string& out) {
    const auto n = value.empty() ? 0 : number(value);
    if (!n || *n == std::numeric_limits<long>::max()) {
      out += "-ERR value is not an integer or out of range\r\n";
      return;
    }
    value = std::to_string(*n + 1);
    say_number(out, ':', *n + 1);
  }

  weft::mutex mutex_;
  std::unordered_map<std::string, std::string> values_;
};

}  // namespace resp
