// select_list.hpp: a select whose cases are made at run time.
//
//   weft::select_list l;
//   for (auto& w : workers) l.add(weft::on_recv(w.results, [&](std::optional<result> r) { ... }));
//   std::size_t which = l.wait();
//
// The list keeps its channels alive. It can be waited on again and again, and on_timeout counts from each wait. Cases that receive stay. One that
// sends an rvalue owns it: it is spent when that was sent, and never ready again; what was not sent is still there (unsent), also if its move
// threw. One that sends an lvalue stays: the lvalue, which must live as long as the list is waited on, is copied each time this case is chosen;
// one that sends a signal stays too. One goroutine at a time.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/select.hpp>

namespace weft::inline v1 {

class select_list {
 public:
  // None was ready, or the time was over.
  static constexpr std::size_t npos = detail::kNone;

  // Its index is how many there were before. Throws std::logic_error for a second on_timeout or otherwise.
  template <detail::select_case Case>
  std::size_t add(Case&& c) {
    using given = std::remove_cvref_t<Case>;
    static_assert(!std::is_lvalue_reference_v<Case>, "select_list: add(std::move(case))");
    std::unique_ptr<entry> e;
    if constexpr (requires { c.owning(); }) {
      e = std::make_unique<send_entry<decltype(c.owning())>>(c.owning());
    } else if constexpr (given::kind == detail::case_kind::channel) {
      e = std::make_unique<channel_entry<given>>(std::forward<Case>(c));
    } else {
      std::size_t& only = given::kind == detail::case_kind::timeout ? timeout_ : otherwise_;
      if (only != npos)
        throw std::logic_error("weft: select_list: a second on_timeout or otherwise");
      e = std::make_unique<other_entry<given>>(std::forward<Case>(c));
      only = entries_.size();
    }
    entries_.push_back(std::move(e));
    return entries_.size() - 1;
  }

  std::size_t size() const noexcept { return entries_.size(); }

  // Waits until a case is ready, runs its handler and gives its index. With an `otherwise` it does not wait.
  WEFT_MAY_SWITCH std::size_t wait() {
    if (otherwise_ != npos) return try_now();
    return choose(false, timeout_ != npos ? entries_[timeout_]->deadline_ns() : detail::kLastNs);
  }

  // The same without waiting: `otherwise`, or npos.
  WEFT_MAY_SWITCH std::size_t try_now() { return choose(true, detail::kFirstNs); }

  // The same, but waits no longer than that: npos.
  template <class Rep, class Period>
  WEFT_MAY_SWITCH std::size_t wait_for(const std::chrono::duration<Rep, Period>& d) {
    if (otherwise_ != npos) return try_now();
    const std::int64_t mine = detail::deadline_in(detail::to_ns(d));
    const std::int64_t own = timeout_ != npos ? entries_[timeout_]->deadline_ns() : detail::kLastNs;
    if (timeout_ == npos || mine < own) {
      const std::size_t timeout = std::exchange(timeout_, npos);
      struct restore {
        std::size_t& to;
        std::size_t value;
        ~restore() { to = value; }
      } afterwards{timeout_, timeout};
      return choose(false, mine);
    }
    return choose(false, own);
  }

  // What the case at that index would send: null if it has been sent, is not the list's own (an lvalue), or is not of that type.
  template <class T>
  T* unsent(std::size_t index) noexcept {
    if (index >= entries_.size()) return nullptr;
    return static_cast<T*>(entries_[index]->unsent(&type_tag<T>));
  }

 private:
  template <class T>
  static constexpr char type_tag = 0;

  struct entry {
    entry() = default;
    entry(const entry&) = delete;
    entry& operator=(const entry&) = delete;
    virtual ~entry() = default;
    virtual void prepare(detail::select_slot&) {}
    virtual bool run(detail::passed how) = 0;
    virtual std::int64_t deadline_ns() const noexcept { return detail::kLastNs; }
    virtual void* unsent(const char*) noexcept { return nullptr; }
  };

  template <class Case>
  struct channel_entry : entry {
    explicit channel_entry(Case&& given) : kept(given.handle_of()), c(std::move(given)) {
      c.keep(kept);
    }
    void prepare(detail::select_slot& s) override { c.prepare(s); }
    bool run(detail::passed how) override { return c.run(how); }
    const detail::chan_handle kept;
    Case c;
  };

  template <class Case>
  struct send_entry final : channel_entry<Case> {
    using channel_entry<Case>::channel_entry;
    void prepare(detail::select_slot& s) override {
      if (!is_spent) {
        this->c.prepare(s);
      } else {
        s.chan = nullptr;
      }
    }
    bool run(detail::passed how) override {
      this->c.deliver(how);
      is_spent = true;  // though the handler may throw
      this->c.handle();
      return true;
    }
    void* unsent(const char* tag) noexcept override {
      using value = std::remove_pointer_t<decltype(this->c.unsent())>;
      return !is_spent && tag == &type_tag<value> ? this->c.unsent() : nullptr;
    }
    bool is_spent = false;
  };

  template <class Case>
  struct other_entry final : entry {
    explicit other_entry(Case&& given) : c(std::move(given)) {}
    bool run(detail::passed how) override { return c.run(how); }
    std::int64_t deadline_ns() const noexcept override {
      if constexpr (Case::kind == detail::case_kind::timeout) return c.deadline_ns();
      return detail::kLastNs;
    }
    Case c;
  };

  WEFT_MAY_SWITCH std::size_t choose(bool at_once, std::int64_t deadline_ns) {
    slots_.resize(entries_.size());
    for (;;) {
      for (std::size_t i = 0; i < entries_.size(); ++i) entries_[i]->prepare(slots_[i]);
      detail::selected chosen =
          at_once ? detail::try_select(slots_.data(), slots_.size())
                  : detail::select_until(slots_.data(), slots_.size(), deadline_ns);
      if (chosen.index == npos) chosen.index = at_once ? otherwise_ : timeout_;
      if (chosen.index == npos || entries_[chosen.index]->run(chosen.how)) return chosen.index;
    }
  }

  std::vector<std::unique_ptr<entry>> entries_;
  std::vector<detail::select_slot> slots_;
  std::size_t timeout_ = npos;
  std::size_t otherwise_ = npos;
};

}  // namespace weft::inline v1
