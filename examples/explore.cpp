// explore.cpp: two bugs that a thousand ordinary runs would not show, each found and replayed; and the program without them.
//
// Points are also at locks that are free: that is what the next line is for.
#define WEFT_EXPLORE_LOCKS
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <stdexcept>
#include <string>

#include <weft/testing.hpp>
#include <weft/weft.hpp>

namespace {

struct account {
  weft::mutex lock;
  int balance = 100;
};

// Looks and takes in two steps: in between another may have taken the same money.
void withdraw_in_two_steps(account& a, int amount) {
  int before;
  {
    const std::lock_guard hold(a.lock);
    before = a.balance;
  }
  const std::lock_guard hold(a.lock);
  a.balance = before - amount;
}

void withdraw(account& a, int amount) {
  const std::lock_guard hold(a.lock);
  a.balance -= amount;
}

// Takes the locks in the order of its arguments: there and back at once, each waits for the other.
void transfer_in_any_order(account& from, account& to, int amount) {
  const std::lock_guard first(from.lock);
  const std::lock_guard second(to.lock);
  from.balance -= amount;
  to.balance += amount;
}

void transfer(account& from, account& to, int amount) {
  const std::scoped_lock both(from.lock, to.lock);
  from.balance -= amount;
  to.balance += amount;
}

template <class Withdraw>
auto two_withdrawals(Withdraw take) {
  return [take] {
    account a;
    weft::wait_group both;
    both.go([&] { take(a, 30); });
    both.go([&] { take(a, 20); });
    both.wait();
    if (a.balance != 50) throw std::runtime_error("the balance is " + std::to_string(a.balance));
  };
}

template <class Transfer>
auto there_and_back(Transfer move) {
  return [move] {
    account a;
    account b;
    weft::wait_group both;
    both.go([&] { move(a, b, 10); });
    both.go([&] { move(b, a, 10); });
    both.wait();
  };
}

// Which seed fails; 0: none.
template <class F>
std::uint64_t explored(F program) {
  try {
    weft::testing::explore({.seeds = 500}, program);
    return 0;
  } catch (const weft::testing::explore_failure& e) {
    return e.seed();
  }
}

template <class F>
bool is_found(const char* what, F program) {
  const std::uint64_t seed = explored(program);
  if (seed == 0) return false;
  const std::string again = std::to_string(seed);
  ::setenv("WEFT_SEED", again.c_str(), 1);  // as one would in the shell
  const bool is_replayed = explored(program) == seed;
  ::unsetenv("WEFT_SEED");
  std::cout << what << ": found, and found again\n";
  return is_replayed;
}

}  // namespace

int main() {
  const bool ok = is_found("withdrawals in two steps", two_withdrawals(withdraw_in_two_steps)) &&
                  explored(two_withdrawals(withdraw)) == 0 &&
                  is_found("locks in any order", there_and_back(transfer_in_any_order)) &&
                  explored(there_and_back(transfer)) == 0;
  std::cout << (ok ? "and the corrected ones pass\n" : "something is wrong\n");
  return ok ? 0 : 1;
}
