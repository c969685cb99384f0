// pipeline.cpp: stages joined by channels: one stage feeds several (fan-out), whose results come together again (fan-in).
//
// Each stage closes its own output when its input ends, so the end travels down the line by itself.
#include <cstdio>
#include <vector>

#include <weft/weft.hpp>

namespace {

weft::recv_chan<int> count_to(int n) {
  const auto out = weft::make_chan<int>();
  weft::go([=] {
    for (int i = 1; i <= n; ++i) out.send(i);
    out.close();
  });
  return out;
}

weft::recv_chan<long> squares_of(weft::recv_chan<int> in) {
  const auto out = weft::make_chan<long>();
  weft::go([=] {
    for (const int& i : in) out.send(static_cast<long>(i) * i);
    out.close();
  });
  return out;
}

weft::recv_chan<long> merge(const std::vector<weft::recv_chan<long>>& inputs) {
  const auto out = weft::make_chan<long>();
  weft::go([=] {
    weft::wait_group wg;
    for (const auto& in : inputs)
      wg.go([&out, in] {
        for (const long& v : in) out.send(v);
      });
    wg.wait();
    out.close();
  });
  return out;
}

}  // namespace

int main() {
  return weft::run([] {
    const weft::recv_chan<int> numbers = count_to(1000);
    std::vector<weft::recv_chan<long>> squares;
    for (int i = 0; i < 3; ++i) squares.push_back(squares_of(numbers));  // they share the work
    long sum = 0;
    for (const long& s : merge(squares)) sum += s;
    std::printf("the first thousand squares add up to %ld\n", sum);
    return sum == 333'833'500 ? 0 : 1;
  });
}
