// token_market.cpp: see token_market.hpp.
#include "support/token_market.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <sstream>
#include <thread>
#include <vector>

#include <weft/io.hpp>
#include <weft/net.hpp>
#include <weft/weft.hpp>

#include "support/sockets.hpp"

namespace weft::test {
namespace {

using namespace std::chrono_literals;
using std::chrono::microseconds;
using token = std::uint32_t;
using tokens = std::vector<token>;

// Bytes that carry tokens; its reader puts them into a pot.
class wire {
 public:
  virtual ~wire() = default;
  virtual void write(token t) = 0;
  virtual bool read(token& t) = 0;  // false: the end
  virtual void end() = 0;
};

template <class Writer, class Reader>
class wire_of final : public wire {
 public:
  wire_of(Writer w, Reader r) : writer_(std::move(w)), reader_(std::move(r)) {}
  void write(token t) override {
    std::array<char, sizeof t> bytes;
    std::memcpy(bytes.data(), &t, sizeof t);
    const std::lock_guard hold(lock_);
    writer_.write_all(bytes);
  }
  bool read(token& t) override {
    std::array<char, sizeof t> bytes;
    std::error_code ec;
    if (reader_.read_full(bytes, ec) != sizeof t) return false;
    std::memcpy(&t, bytes.data(), sizeof t);
    return true;
  }
  void end() override { writer_.close(); }

 private:
  weft::mutex lock_;
  Writer writer_;
  Reader reader_;
};

class market {
 public:
  explicit market(const market_options& opts) : opts_(opts) {
    for (const std::size_t capacity : {0, 0, 1, 3, 16, 128})
      roads_.push_back(weft::make_chan<token>(capacity));
    if (!opts.has_descriptors) return;
    auto ends = io::pipe();
    wires_.push_back(std::make_unique<wire_of<io::async_fd, io::async_fd>>(std::move(ends.writer),
                                                                           std::move(ends.reader)));
    auto [here, there] = connected("unix");
    wires_.push_back(
        std::make_unique<wire_of<net::conn, net::conn>>(std::move(here), std::move(there)));
  }

  market_result run();

 private:
  friend class worker;

  const weft::chan<token>& road(std::uint32_t n) const { return roads_[n % roads_.size()]; }

  void deposit(token t) {
    const std::lock_guard hold(pot_lock_);
    pot_.push_back(t);
    is_filled_.notify_one();
  }
  void deposit(tokens& some) {
    const std::lock_guard hold(pot_lock_);
    pot_.insert(pot_.end(), some.begin(), some.end());
    some.clear();
    is_filled_.notify_all();
  }

  void begin_helpers();
  void end_helpers();
  void visit(std::uint64_t seed);  // what a plain thread does
  std::string count_tokens(std::size_t expected);

  const market_options opts_;
  std::vector<weft::chan<token>> roads_;
  std::vector<std::unique_ptr<wire>> wires_;
  weft::mutex pot_lock_;
  weft::condition_variable is_filled_;
  tokens pot_;  // pot_lock_
  weft::semaphore permits_{3};
  weft::wait_group workers_;
  weft::wait_group helpers_;
  std::vector<std::thread> threads_;
  std::atomic<bool> stop_{false};
  std::atomic<std::uint64_t> nchan_ops_{0};
  std::atomic<std::uint64_t> nspawned_{0};
};

class worker {
 public:
  worker(market& m, std::uint64_t seed, tokens mine, int depth = 0)
      : m_(m), random_(seed), mine_(std::move(mine)), depth_(depth) {}
  ~worker() { m_.deposit(mine_); }
  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;

  void work(int nsteps) {
    for (int i = 0; i < nsteps; ++i) step();
  }

 private:
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random_() >> 33) % n; }
  microseconds briefly(std::uint32_t most_us) { return microseconds(below(most_us)); }
  const weft::chan<token>& any_road() { return m_.road(below(100)); }
  bool has_any() {
    if (mine_.empty()) take_from_pot();
    return !mine_.empty();
  }
  token pay() {
    const token t = mine_.back();
    mine_.pop_back();
    return t;
  }
  void count_op(std::uint64_t n = 1) { m_.nchan_ops_.fetch_add(n, std::memory_order_relaxed); }
  void count_spawn() { m_.nspawned_.fetch_add(1, std::memory_order_relaxed); }
  void earn(std::optional<token> t) {
    if (!t) return;
    count_op();
    mine_.push_back(*t);
  }

  void step();
  void take_from_pot() {
    const std::lock_guard hold(m_.pot_lock_);
    if (m_.pot_.empty()) return;
    mine_.push_back(m_.pot_.back());
    m_.pot_.pop_back();
  }
  void send_somewhere();
  void trade();
  void peep();
  void talk();
  void wait_for_pot();
  void raise_child();
  void ask_child();
  void set_timer();
  void compute(microseconds how_long);
  void pass_a_door();

  market& m_;
  std::mt19937_64 random_;
  tokens mine_;
  const int depth_;
};

void worker::send_somewhere() {
  if (!has_any()) return;
  const token t = pay();
  const bool is_sent =
      below(2) == 0 ? any_road().try_send(t) : any_road().send_for(t, briefly(500));
  if (is_sent) {
    count_op();
  } else {
    mine_.push_back(t);
  }
}

// Gives and takes, whichever comes first.
void worker::trade() {
  if (!has_any()) return;
  const token t = pay();
  bool is_sent = false;
  weft::select(weft::on_send(any_road(), t,
                             [&] {
                               is_sent = true;
                               count_op();
                             }),
               weft::on_recv(any_road(), [&](std::optional<token> got) { earn(got); }),
               weft::on_timeout(briefly(500)));
  if (!is_sent) mine_.push_back(t);
}

void worker::peep() {
  weft::select(weft::on_recv(any_road(), [&](std::optional<token> got) { earn(got); }),
               weft::on_recv(any_road(), [&](std::optional<token> got) { earn(got); }),
               weft::otherwise());
}

// A conversation with a child, without a limit: the token goes there and back.
void worker::talk() {
  if (!has_any()) return;
  const auto there = weft::make_chan<token>(below(3));
  const auto back = weft::make_chan<token>(below(2));
  count_spawn();
  m_.workers_.go([there, back] {
    for (const token t : there) back.send(t);
  });
  const int n = static_cast<int>(below(100));
  for (int i = 0; i < n; ++i) {
    there.send(pay());
    earn(back.recv());
  }
  count_op(3 * static_cast<std::uint64_t>(n));
  there.close();
}

void worker::wait_for_pot() {
  std::unique_lock hold(m_.pot_lock_);
  if (!m_.is_filled_.wait_for(hold, briefly(500), [this] { return !m_.pot_.empty(); })) return;
  mine_.push_back(m_.pot_.back());
  m_.pot_.pop_back();
}

void worker::raise_child() {
  if (depth_ > 3) return;
  tokens inheritance;
  if (has_any()) inheritance.push_back(pay());
  count_spawn();
  m_.workers_.go([this_market = &m_, seed = random_(), some = std::move(inheritance),
                  depth = depth_ + 1, nsteps = static_cast<int>(below(8))] {
    worker(*this_market, seed, some, depth).work(nsteps);
  });
}

void worker::ask_child() {
  if (!has_any()) return;
  count_spawn();
  mine_.push_back(weft::spawn([t = pay(), pauses = below(3)] {
                    for (std::uint32_t i = 0; i < pauses; ++i) weft::yield();
                    return t;
                  }).join());
}

// The token is the timer's until it is stopped in time: it comes back in exactly one way.
void worker::set_timer() {
  if (!has_any()) return;
  const token t = pay();
  m_.workers_.add(1);
  auto timer = weft::after_func(briefly(400), [m = &m_, t] {
    m->deposit(t);
    m->workers_.done();
  });
  if (below(2) == 0) weft::sleep_for(briefly(400));
  if (below(2) == 0 && timer.stop()) {
    mine_.push_back(t);
    m_.workers_.done();
  }
}

void worker::compute(microseconds how_long) {
  const auto end = std::chrono::steady_clock::now() + how_long;
  while (std::chrono::steady_clock::now() < end) asm volatile("");
}

void worker::pass_a_door() {
  if (below(4) == 0) {
    if (!m_.permits_.try_acquire_for(2, briefly(500))) return;
    weft::yield();
    m_.permits_.release(2);
  } else {
    m_.permits_.acquire();
    if (below(3) == 0) weft::yield();
    m_.permits_.release();
  }
}

void worker::step() {
  switch (below(40)) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4:
    case 5:
      return send_somewhere();
    case 6:
    case 7:
    case 8:
    case 9:
      return earn(any_road().try_recv());
    case 10:
    case 11:
      return earn(any_road().recv_for(briefly(300)));
    case 12:
    case 13:
    case 14:
    case 15:
      return trade();
    case 16:
    case 17:
      return peep();
    case 18:
    case 19:
      return talk();
    case 20:
      return wait_for_pot();
    case 21:
    case 22:
    case 23:
      return raise_child();
    case 24:
    case 25:
      return ask_child();
    case 26:
    case 27:
      return set_timer();
    case 28:
      return weft::blocking([&] { std::this_thread::sleep_for(briefly(200)); });
    case 29:
      return std::this_thread::sleep_for(briefly(200));  // without telling
    case 30:
      return compute(m_.opts_.has_hogs && below(50) == 0 ? 12ms : briefly(100));
    case 31:
    case 32:
      return pass_a_door();
    case 33:
      return weft::sleep_for(briefly(300));
    case 34:
      weft::lock_os_thread();
      weft::yield();
      return weft::unlock_os_thread();
    case 35:
    case 36:
      if (!m_.wires_.empty() && has_any()) m_.wires_[below(100) % m_.wires_.size()]->write(pay());
      return;
    case 37:
      if (has_any()) m_.deposit(pay());
      return;
    default:
      return weft::yield();
  }
}

// From one road to another, until there is nobody any more.
void market::visit(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  while (!stop_) {
    const auto t = road(static_cast<std::uint32_t>(random() >> 33)).recv_for(1ms);
    if (!t) continue;
    nchan_ops_.fetch_add(2, std::memory_order_relaxed);
    if (!road(static_cast<std::uint32_t>(random() >> 33)).send_for(*t, 100us)) deposit(*t);
  }
}

void market::begin_helpers() {
  for (const auto& w : wires_) {
    helpers_.go([this, &w] {
      for (token t; w->read(t);) deposit(t);
    });
  }
  for (int i = 0; i < opts_.nthreads; ++i)
    threads_.emplace_back(
        [this, seed = opts_.seed + static_cast<std::uint64_t>(i)] { visit(seed); });
  if (!opts_.has_resizes) return;
  helpers_.go([this] {
    std::mt19937_64 random(opts_.seed);
    const unsigned before = weft::max_procs();
    while (!stop_) {
      weft::max_procs(1 + static_cast<unsigned>(random() >> 33) % 4);
      weft::sleep_for(microseconds((random() >> 33) % 3000));
    }
    weft::max_procs(before);
  });
}

void market::end_helpers() {
  stop_ = true;
  for (std::thread& t : threads_) weft::blocking([&] { t.join(); });
  for (const auto& w : wires_) w->end();
  helpers_.wait();
}

std::string market::count_tokens(std::size_t expected) {
  for (const auto& r : roads_) {
    while (const auto t = r.try_recv()) pot_.push_back(*t);
  }
  std::vector<int> seen(expected);
  std::ostringstream wrong;
  for (const token t : pot_) {
    if (t < expected) {
      ++seen[t];
    } else {
      wrong << "token " << t << " never was; ";
    }
  }
  for (std::size_t t = 0; t < expected; ++t) {
    if (seen[t] != 1) wrong << "token " << t << " is there " << seen[t] << " times; ";
  }
  return wrong.str();
}

market_result market::run() {
  begin_helpers();
  const auto each = static_cast<token>(opts_.ntokens);
  for (token i = 0; i < static_cast<token>(opts_.nworkers); ++i) {
    tokens mine;
    for (token t = 0; t < each; ++t) mine.push_back(i * each + t);
    nspawned_.fetch_add(1, std::memory_order_relaxed);
    workers_.go([this, mine = std::move(mine), seed = opts_.seed * 1'000'003 + i] {
      worker(*this, seed, mine).work(opts_.nsteps);
    });
  }
  workers_.wait();
  end_helpers();
  market_result r;
  r.what = count_tokens(static_cast<std::size_t>(opts_.nworkers) * each);
  r.is_even = r.what.empty();
  r.nchan_ops = nchan_ops_;
  r.nspawned = nspawned_;
  return r;
}

}  // namespace

market_result run_market(const market_options& opts) { return market(opts).run(); }

}  // namespace weft::test
