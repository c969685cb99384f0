// peer.cpp: see peer.hpp. `program <seed>` runs that one.
#include "peer.hpp"

#include <cstdlib>
#include <exception>
#include <mutex>

#include <unistd.h>

namespace peer {

namespace {

constexpr std::string_view kFront = "a text that is longer than any that fits inside: ";
constexpr std::string_view kOwnPrefix = "weft: ";

constinit program* programs = nullptr;

// As Go prints it.
std::string_view without_prefix(std::string_view what) {
  return what.starts_with(kOwnPrefix) ? what.substr(kOwnPrefix.size()) : what;
}

}  // namespace

std::string text(int value) { return std::string(kFront) + std::to_string(value); }

int number(const std::string& t) {
  if (!t.starts_with(kFront)) std::_Exit(99);
  return std::stoi(t.substr(kFront.size()));
}

// One write per line, so that lines stay whole and none is lost when the process dies.
void gor::say(std::string_view what) const {
  if (!is_audible) return;
  const std::string line = "g" + std::to_string(number) + " " + std::string(what) + "\n";
  if (::write(STDOUT_FILENO, line.data(), line.size()) < 0) std::_Exit(97);
}
void gor::say(std::string_view what, int value) const {
  say(std::string(what) + " " + std::to_string(value));
}
void gor::sent(std::string_view ch) const { say(std::string(ch) + " <-"); }
void gor::got(std::string_view ch, const taken& t) {
  if (t.ok) acc = mix(acc, t.value);
  say(std::string(ch) + " -> " + std::to_string(t.value) + (t.ok ? " true" : " false"));
}
void gor::chose(int index) const { say("case", index); }
void gor::has(std::string_view ch, std::size_t length, std::size_t capacity) const {
  say(std::string(ch) + " has " + std::to_string(length) + " of " + std::to_string(capacity));
}
void gor::tell_seen() {
  std::string what = "seen";
  for (std::size_t i = 0; i < seen.size(); ++i)
    if (seen[i]) what += " " + std::to_string(i);
  say(what);
  seen = {};
}
void gor::caught(const char* what) {
  failed = true;
  say("caught " + std::string(without_prefix(what)));
}
void gor::pumped(std::string_view ch, const digest& d, bool is_ordered) const {
  say(std::string(ch) + " pumped " + std::to_string(d.n) + " " + std::to_string(d.sum) +
      (is_ordered ? " " + std::to_string(d.mixed) : ""));
}

void counter::add(int value) {
  const std::lock_guard hold(mutex);
  ++n;
  sum += value;
  squares += std::int64_t{value} * value;
}
void counter::tell(const gor& g, std::string_view name) {
  const std::lock_guard hold(mutex);
  g.say(std::string(name) + " = " + std::to_string(n) + " " + std::to_string(sum) + " " +
        std::to_string(squares));
}

program::program(int s, void (*r)(gor&)) noexcept : seed(s), run(r), next(programs) {
  programs = this;
}

}  // namespace peer

int main(int argc, char** argv) {
  const int seed = argc > 1 ? std::atoi(argv[1]) : 0;
  for (const peer::program* p = peer::programs; p != nullptr; p = p->next) {
    if (p->seed != seed) continue;
    try {
      weft::run([p] {
        peer::gor g;
        p->run(g);
      });
    } catch (const std::exception& e) {  // left main's goroutine: Go's panic there
      const std::string line = "panic: " + std::string(e.what()) + "\n";
      return ::write(STDERR_FILENO, line.data(), line.size()) < 0 ? 97 : 2;
    }
    return 0;
  }
  return 98;
}
