// resp_server.cpp: a small key-value store that speaks Redis' protocol: `resp_server 6379`, then `redis-cli` or `redis-benchmark -t set,get`.
//
// One goroutine per connection; the store is a map under a mutex. A connection's answers are collected while further requests are at hand
// (pipelining), and written together. Without a port it asks itself a few things, and ends.
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <weft/weft.hpp>

namespace {

using request = std::vector<std::string>;

// What the other side has sent and nobody has used yet.
class input {
 public:
  explicit input(const weft::net::conn& c) : conn_(c) {}

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

  weft::net::conn conn_;
  std::string text_;
  std::size_t at_ = 0;
};

std::optional<long> number(std::string_view text) {
  long n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return n;
}

// Nothing: the connection has ended, or sends rubbish.
std::optional<request> read_request(input& in) {
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

void say_number(std::string& out, char kind, long n) {
  out += kind;
  out.append(std::to_string(n)).append("\r\n");
}

void say_text(std::string& out, std::string_view text) {
  say_number(out, '$', static_cast<long>(text.size()));
  out.append(text).append("\r\n");
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
      out.append("-ERR unknown command '").append(words[0]);
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
    if (!n) {
      out += "-ERR value is not an integer or out of range\r\n";
      return;
    }
    value = std::to_string(*n + 1);
    say_number(out, ':', *n + 1);
  }

  weft::mutex mutex_;
  std::unordered_map<std::string, std::string> values_;
};

void serve(const weft::net::conn& c, store& all) {
  input in(c);
  std::string out;
  std::error_code ec;
  while (const auto words = read_request(in)) {
    all.answer(*words, out);
    if (!in.is_used_up()) continue;
    c.write_all(out, ec);
    if (ec) return;
    out.clear();
  }
}

// Until the listener is closed, and all connections have ended.
void serve_all(const weft::net::listener& l, store& all) {
  weft::wait_group open;
  std::error_code ec;
  while (auto c = l.accept(ec)) open.go([c, &all] { serve(c, all); });
  open.wait();
}

int try_out(const weft::net::listener& l) {
  const auto c = weft::net::dial("tcp", l.addr().to_string());
  const std::string ask =
      "*1\r\n$4\r\nPING\r\n*3\r\n$3\r\nset\r\n$5\r\ncount\r\n$2\r\n41\r\n"
      "*2\r\n$4\r\nINCR\r\n$5\r\ncount\r\n*2\r\n$3\r\nGET\r\n$5\r\ncount\r\n*2\r\n$3\r\nGET\r\n$"
      "4\r\nnone\r\n";
  const std::string expected = "+PONG\r\n+OK\r\n:42\r\n$2\r\n42\r\n$-1\r\n";
  c.write_all(ask);
  std::string got(expected.size(), ' ');
  c.read_full(got);
  std::fputs(got.c_str(), stdout);
  l.close();
  return got == expected ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
  return weft::run([&] {
    static store all;
    const auto l = weft::net::listen("tcp", std::string("127.0.0.1:") + (argc > 1 ? argv[1] : "0"));
    if (argc > 1) {
      std::printf("listening on %s\n", l.addr().to_string().c_str());
      serve_all(l, all);
      return EXIT_SUCCESS;
    }
    weft::wait_group server;
    server.go([l] { serve_all(l, all); });
    const int result = try_out(l);
    server.wait();
    return result;
  });
}
