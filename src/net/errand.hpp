// errand.hpp: a question whose answer may block a thread for seconds, asked by somebody else.
//
// A goroutine sends another goroutine, which holds no P while it waits, and has a stack of known size whatever its sender's is. A plain
// thread sends a thread if it may have to stop waiting, and goes itself if not: so what a thread waits for never goes away with a runtime.
// Whoever sent it can stop waiting when a context ends; the errand then goes on to its end and the answer is dropped.
//
// Bounded: each errand is a thread of the system for its time, and a name server that does not answer must not use them up.
//   E1  at most kMaxErrands are under way for the goroutines of one runtime, also counting those that nobody waits for any more
//   E2  and as many for plain threads
// Counted by runtime, since the goroutines of one that has ended never come back to give up their places.
#pragma once

#include <cstdint>
#include <memory>
#include <system_error>

#include <weft/chan.hpp>
#include <weft/context.hpp>

namespace weft::networks {

inline constexpr std::int64_t kMaxErrands = 500;

class errand {
 public:
  errand() = default;
  virtual ~errand() = default;
  errand(const errand&) = delete;
  errand& operator=(const errand&) = delete;

  // May block the thread. Throws nothing: nobody may be there any more.
  virtual void run() noexcept = 0;
};

// Runs it. No error: it has run, and what it wrote can be read. Else why the context has ended, or why there is no thread to send; the
// errand is not to be touched then. A null context never ends.
// Throws std::bad_alloc.
WEFT_MAY_SWITCH std::error_code send_on(const context& ctx, std::shared_ptr<errand> what);

}  // namespace weft::networks
