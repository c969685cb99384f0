// timeout_and_stop.cpp: select: an answer or a timeout, whichever comes first; work that ends when it is asked to.
#include <chrono>
#include <cstdio>
#include <optional>
#include <string>

#include <weft/weft.hpp>

using namespace std::chrono_literals;

namespace {

// Answers after some time. The buffer lets it go on although nobody may listen any more.
weft::recv_chan<std::string> ask(std::string question, std::chrono::milliseconds takes) {
  const auto answer = weft::make_chan<std::string>(1);
  weft::go([=] {
    weft::sleep_for(takes);
    answer.send("the answer to " + question);
  });
  return answer;
}

std::string answer_within(std::chrono::milliseconds limit, std::chrono::milliseconds takes) {
  std::string text;
  const auto answer = ask("everything", takes);
  weft::select(weft::on_recv(answer, [&](std::optional<std::string> a) { text = *a; }),
               weft::on_timeout(limit, [&] { text = "no answer in time"; }));
  return text;
}

// Counts until `stop` is closed, and says how far it got.
long count_until(weft::recv_chan<void> stop) {
  long n = 0;
  for (bool is_over = false; !is_over;)
    weft::select(weft::on_recv(stop, [&] { is_over = true; }), weft::otherwise([&] { ++n; }));
  return n;
}

}  // namespace

int main() {
  return weft::run([] {
    const std::string in_time = answer_within(10s, 1ms);
    const std::string too_late = answer_within(1ms, 10s);
    std::printf("%s; %s\n", in_time.c_str(), too_late.c_str());

    const auto stop = weft::make_chan<void>();
    auto counter = weft::spawn([stop] { return count_until(stop); });
    weft::sleep_for(5ms);
    stop.close();  // everybody who listens hears it
    std::printf("counted to %ld before it was stopped\n", counter.join());
    return in_time == "the answer to everything" && too_late == "no answer in time" ? 0 : 1;
  });
}
