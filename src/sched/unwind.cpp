// unwind.cpp: what happens when a goroutine's stack is unwound to its end.
//
// weft_context_entry, the frame below every goroutine, names weft_entry_personality. The C++ runtime first searches the stack for a
// handler without touching it, and asks each frame's personality: when it asks ours, nobody catches the exception, and the
// stack is still whole. So the report shows where it was thrown, and no terminate handler has to be borrowed for it.
//
// exit_goroutine() unwinds by force, as pthread_exit does: destructors run, `catch (...)` is entered and must rethrow.
//
// pthread_exit() and pthread_cancel() themselves unwind what runs on the thread, which is a goroutine's stack, and then end the thread, which
// is not the goroutine's. Its destructors have run when that comes to our personality; going on would lose a thread with its P.
#include <cxxabi.h>
#include <unwind.h>

#include <cstdlib>
#include <exception>
#include <new>
#include <stdexcept>
#include <typeinfo>

#include <weft/error.hpp>
#include <weft/go.hpp>
#include "sched/crash.hpp"
#include "sched/current.hpp"
#include "sched/locals.hpp"
#include "sched/start.hpp"

namespace weft::sched {

namespace {

void say(std::string_view text) noexcept { os::write_all(os::kStderr, text); }

void print_where() noexcept {
  os::text t;
  t << "\n\n";
  const G* const gp = current_m()->curg();
  describe(t, gp);
  t << " [running]:\n";
  say(t.view());
  print_backtrace();
  t.clear();
  describe_origin(t, gp);
  t << '\n';
  say(t.view());
}

// what() is the user's: it may throw as well, wait, or never return.
std::string_view what_of_current() noexcept {
  try {
    throw;
  } catch (const std::exception& e) {
    try {
      const char* const what = e.what();
      return what != nullptr ? what : "";
    } catch (...) {
      return "(its what() throws)";
    }
  } catch (...) {
    return "";
  }
}

[[noreturn]] void report_uncaught(_Unwind_Exception* thrown) noexcept {
  begin_crash();
  current_m()->curg()->is_exiting = false;  // whatever it was doing, now it dies of this
  abi::__cxa_begin_catch(thrown);
  const std::type_info* const type = abi::__cxa_current_exception_type();
  int status = -1;
  char* const readable =
      type != nullptr ? abi::__cxa_demangle(type->name(), nullptr, nullptr, &status) : nullptr;
  say("panic: uncaught exception ");
  say(readable != nullptr ? readable : type != nullptr ? type->name() : "of a foreign kind");
  // The type is out before what() is called. If that ends the process, std::terminate names the goroutine.
  if (const std::string_view what = what_of_current(); !what.empty()) {
    say(": ");
    say(what);
  }
  print_where();
  was_panic_printed = true;
  std::terminate();
}

// A `catch (...)` that does not rethrow deletes the exception when it is done with it.
void on_caught(_Unwind_Reason_Code, _Unwind_Exception*) {
  misuse("exit_goroutine() was stopped by a catch (...) that does not rethrow,");
}

_Unwind_Reason_Code stop_at_end(int, _Unwind_Action actions, _Unwind_Exception_Class,
                                _Unwind_Exception*, _Unwind_Context*, void* g) {
  if (!(actions & _UA_END_OF_STACK)) return _URC_NO_REASON;
  G* const self = static_cast<G*>(g);
  end_locals(self);
  free_extras(self);
  end_goroutine();
}

}  // namespace

extern "C" [[gnu::visibility("hidden")]] _Unwind_Reason_Code weft_entry_personality(
    int, _Unwind_Action actions, _Unwind_Exception_Class, _Unwind_Exception* thrown,
    _Unwind_Context*) {
  if ((actions & _UA_SEARCH_PHASE) != 0) report_uncaught(thrown);
  const bool is_ours = static_cast<void*>(thrown) == current_m()->curg()->cold().unwind;
  if ((actions & _UA_FORCE_UNWIND) != 0 && !is_ours)
    misuse("the thread was ended by pthread_exit() or pthread_cancel() under a goroutine,");
  return _URC_CONTINUE_UNWIND;
}

}  // namespace weft::sched

namespace weft::inline v1 {

not_running::not_running(const char* what_was_called)
    : std::logic_error(
          std::string(what_was_called) +
          ": no runtime is active; call it inside weft::run or while a weft::runtime exists") {}

goroutine_exited::goroutine_exited()
    : std::runtime_error("weft: join of a goroutine that ended by exit_goroutine()") {}

// The C++ runtime has no exception_ptr for what is no C++ exception: exit_goroutine(), pthread_exit(), another language's.
bool detail::must_rethrow() noexcept { return std::current_exception() == nullptr; }

void exit_goroutine() {
  using namespace weft::sched;
  M* const mp = current_m();
  if (mp == nullptr) throw std::logic_error("weft::exit_goroutine: this thread is not a goroutine");
  G* const self = mp->curg();
  if (self->goid.load(std::memory_order_relaxed) == kMainGoid) {          // our own
    sched::sched.has_main_exited.store(true, std::memory_order_relaxed);  // for the deadlock report
  }
  self->is_exiting = true;
  static_assert(sizeof(_Unwind_Exception) <= sizeof(rt::g_cold::unwind));
  auto* const exception = ::new (self->cold().unwind) _Unwind_Exception{};
  exception->exception_cleanup = &on_caught;
  arch::before_forced_unwind();
  _Unwind_ForcedUnwind(exception, &stop_at_end, self);
  misuse("exit_goroutine() could not unwind the stack,");
}

}  // namespace weft::inline v1
