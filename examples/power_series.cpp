// power_series.cpp: infinite series whose coefficients flow through channels, each computed by a goroutine when somebody asks for it.
//
// A series may be defined by itself: exp is 1 plus the integral of exp. The integral gives its constant before it asks for anything, so
// there is always a next coefficient. `split` makes several readers of one series; the first sets the pace, so that a series that feeds
// itself does not run away, and the others may be as far behind as they like.
#include <array>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <numeric>
#include <vector>

#include <weft/weft.hpp>

namespace {

// Reduced, with a positive denominator.
struct rational {
  std::int64_t num = 0;
  std::int64_t den = 1;

  static rational of(std::int64_t n, std::int64_t d) {
    const std::int64_t common = std::gcd(n, d) * (d < 0 ? -1 : 1);
    return {n / common, d / common};
  }
  friend rational operator+(rational a, rational b) {
    const std::int64_t common = std::gcd(a.den, b.den);
    return of(a.num * (b.den / common) + b.num * (a.den / common), a.den / common * b.den);
  }
  friend rational operator*(rational a, rational b) {
    const rational x = of(a.num, b.den);
    const rational y = of(b.num, a.den);
    return {x.num * y.num, x.den * y.den};
  }
  friend bool operator==(rational, rational) = default;
};

using series = weft::recv_chan<rational>;

// Where all goroutines of a computation live: they end with it.
class world {
 public:
  // f(out) sends coefficients until it is told to stop: `out(c)` says false then.
  template <class F>
  series make(F f) {
    const auto out = weft::make_chan<rational>();
    goroutines_.go([=](const weft::context& ctx) mutable {
      f([&](rational c) { return out.send(c, ctx); }, ctx);
    });
    return out;
  }

  // first, then the integral's other coefficients.
  series integral(rational first, series of) {
    return make([=](auto out, const weft::context& ctx) {
      if (!out(first)) return;
      for (std::int64_t n = 1;; ++n) {
        const auto c = of.recv(ctx);
        if (!c || !out(*c * rational::of(1, n))) return;
      }
    });
  }

  series scaled(rational by, series of) {
    return make([=](auto out, const weft::context& ctx) {
      while (const auto c = of.recv(ctx)) {
        if (!out(*c * by)) return;
      }
    });
  }

  series sum(series a, series b) {
    return make([=](auto out, const weft::context& ctx) {
      for (;;) {
        const auto x = a.recv(ctx);
        const auto y = x ? b.recv(ctx) : x;
        if (!y || !out(*x + *y)) return;
      }
    });
  }

  series product(series a, series b) {
    return make([=](auto out, const weft::context& ctx) {
      std::vector<rational> as;
      std::vector<rational> bs;
      for (;;) {
        const auto x = a.recv(ctx);
        const auto y = x ? b.recv(ctx) : x;
        if (!y) return;
        as.push_back(*x);
        bs.push_back(*y);
        rational c;
        for (std::size_t i = 0; i < as.size(); ++i) c = c + as[i] * bs[bs.size() - 1 - i];
        if (!out(c)) return;
      }
    });
  }

  series constant(rational first) {
    return make([=](auto out, const weft::context&) {
      for (bool goes_on = out(first); goes_on;) goes_on = out(rational());
    });
  }

  // Readers that all get every coefficient of a series. The next one is asked for when the first reader has all so far.
  template <std::size_t N>
  std::array<series, N> split(series of) {
    std::array<weft::chan<rational>, N> outs;
    for (auto& each : outs) each = weft::make_chan<rational>();
    goroutines_.go([=](const weft::context& ctx) {
      std::array<std::deque<rational>, N> behind;
      for (;;) {
        weft::select_list next;
        bool has_gone_on = true;
        next.add(weft::on_done(ctx, [&] { has_gone_on = false; }));
        for (std::size_t i = 0; i < N; ++i) {
          if (!behind[i].empty())
            next.add(weft::on_send(outs[i], behind[i].front(), [&, i] { behind[i].pop_front(); }));
        }
        if (behind[0].empty()) {
          next.add(weft::on_recv(of, [&](std::optional<rational> c) {
            for (auto& each : behind) each.push_back(*c);
          }));
        }
        next.wait();
        if (!has_gone_on) return;
      }
    });
    std::array<series, N> readers;
    std::copy(outs.begin(), outs.end(), readers.begin());
    return readers;
  }

  // A series that is needed before it is there: give it out, and fill it later.
  void copy(series from, weft::chan<rational> to) {
    goroutines_.go([=](const weft::context& ctx) {
      while (const auto c = from.recv(ctx)) {
        if (!to.send(*c, ctx)) return;
      }
    });
  }

 private:
  weft::group goroutines_;
};

constexpr rational kOne{1, 1};
constexpr int kTerms = 10;

bool show(const char* name, const series& s, const std::vector<rational>& wanted) {
  std::printf("%-12s", name);
  bool is_right = true;
  for (const rational& each : wanted) {
    const rational c = *s.recv();
    is_right &= c == each;
    std::printf(" %lld/%lld", static_cast<long long>(c.num), static_cast<long long>(c.den));
  }
  std::printf("%s\n", is_right ? "" : "   WRONG");
  return is_right;
}

// exp = 1 + the integral of exp
bool exponential() {
  world w;
  const auto itself = weft::make_chan<rational>();
  const auto [shown, again] = w.split<2>(w.integral(kOne, itself));
  w.copy(again, itself);
  std::vector<rational> wanted{kOne};
  for (std::int64_t n = 1; n < kTerms; ++n) wanted.push_back(wanted.back() * rational{1, n});
  return show("exp(x)", shown, wanted);
}

// tan = the integral of 1 + tan * tan
bool tangent() {
  world w;
  const auto itself = weft::make_chan<rational>();
  const auto [left, right] = w.split<2>(itself);
  const series slope = w.sum(w.constant(kOne), w.product(left, right));
  const auto [shown, again] = w.split<2>(w.integral(rational(), slope));
  w.copy(again, itself);
  return show(
      "tan(x)", shown,
      {{0, 1}, {1, 1}, {0, 1}, {1, 3}, {0, 1}, {2, 15}, {0, 1}, {17, 315}, {0, 1}, {62, 2835}});
}

// sin is the integral of cos, and cos 1 minus that of sin; their squares add up to 1.
bool circle() {
  world w;
  const auto cosine = weft::make_chan<rational>();
  const auto [s1, s2, s0] = w.split<3>(w.integral(rational(), cosine));
  const series falls = w.integral(rational{-1, 1}, s0);
  const auto [c1, c2, c0] = w.split<3>(w.scaled(rational{-1, 1}, falls));
  w.copy(c0, cosine);
  std::vector<rational> wanted(kTerms);
  wanted[0] = kOne;
  return show("sin^2+cos^2", w.sum(w.product(s1, s2), w.product(c1, c2)), wanted);
}

}  // namespace

int main() {
  return weft::run([] {
    const bool is_right = exponential() && tangent() && circle();
    return is_right ? 0 : 1;
  });
}
