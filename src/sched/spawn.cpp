// spawn.cpp: the library half of go() and spawn(): <weft/detail/launch.hpp>.
#include <cstring>
#include <new>
#include <stdexcept>

#include <weft/detail/launch.hpp>
#include <weft/error.hpp>
#include "sched/crash.hpp"
#include "sched/entry.hpp"
#include "sched/extras.hpp"
#include "sched/start.hpp"

namespace weft::sched {

// A goroutine is not asked: what it starts while the runtime ends is abandoned with it, and one that outlived its runtime does not
// come back from enter().
void require_running(const char* what) {
  if (current_m() != nullptr) return;
  die_if_forked();
  // acquire: what start_runtime() did
  if (sched.now.load(std::memory_order_acquire) != phase::running) throw not_running(what);
}

void set_origin(G* gp, void (*entry)(void*), const void* made_at, const M* mp) noexcept {
  gp->entry = entry;
  gp->made_at = made_at;
  if (mp == nullptr) return;
  const G* const self = mp->curg();
  gp->made_by = self->goid.load(std::memory_order_relaxed);  // our own
  gp->place = self->place;  // whoever is started in a bubble is in it
}

namespace {

[[noreturn, gnu::cold]] void no_memory() { throw std::bad_alloc(); }

// Which slot holds so many usable bytes and its guard; 0: the default.
std::uint8_t stack_bits_for(std::size_t bytes) {
  if (bytes == 0) return 0;
  if (bytes > stack::kMaxBytes)
    throw std::invalid_argument("weft: stack_size is larger than 1 GiB");
  return slot_bits_for(bytes);
}

G* begin() noexcept {
  bracket inside;
  return new_g(inside.p());
}

}  // namespace

}  // namespace weft::sched

namespace weft::inline v1::detail {

namespace s = weft::sched;

// The inline room is the third line of the G.
static_assert(sizeof(rt::G::closure) == kInlineClosure);

launch begin_launch(const char* what) {
  s::require_running(what);
  rt::G* const gp = s::begin();
  if (gp == nullptr) s::no_memory();
  return {gp, gp->closure};
}

launch begin_launch(const char* what, const go_options& opts) {
  const std::uint8_t bits = s::stack_bits_for(opts.stack_size);
  rt::g_extras* extras = nullptr;
  if (!opts.name.empty() || !opts.labels.empty()) extras = new rt::g_extras{opts.name, opts.labels};
  try {
    const launch l = begin_launch(what);
    if (opts.stack_size != 0) static_cast<rt::G*>(l.g)->stack_bits = bits;
    static_cast<rt::G*>(l.g)->extras = extras;
    return l;
  } catch (...) {
    delete extras;
    throw;
  }
}

[[gnu::noinline]] void commit_launch(launch l, entry_fn entry) noexcept {
  rt::G* const gp = static_cast<rt::G*>(l.g);
  s::bracket inside;
  s::set_origin(gp, entry, __builtin_return_address(0), inside.m());
  s::launch(inside.m(), gp);
}

void cancel_launch(launch l) noexcept {
  rt::G* const gp = static_cast<rt::G*>(l.g);
  delete std::exchange(gp->extras, nullptr);
  s::bracket inside;
  gp->become(rt::g_status::dead);
  s::free_g(inside.p(), gp);
}

[[gnu::noinline]] void launch_copy(const char* what, entry_fn entry, const void* closure,
                                   std::size_t bytes) {
  s::require_running(what);
  rt::G* gp;
  {
    s::bracket inside;
    gp = s::new_g(inside.p());
    if (gp != nullptr) [[likely]] {
      if (bytes == sizeof(void*)) {  // what spawn() passes: known at compile time, it is one move
        std::memcpy(gp->closure, closure, sizeof(void*));
      } else {
        std::memcpy(gp->closure, closure, bytes);
      }
      s::set_origin(gp, entry, __builtin_return_address(0), inside.m());
      s::launch(inside.m(), gp);
      return;
    }
  }
  s::no_memory();
}

}  // namespace weft::inline v1::detail
