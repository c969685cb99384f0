// fiber.hpp: a stack and a place to go on at. All threads of a model are fibers of one thread of the machine, so that nothing happens but
// what the explorer chose. The switch is the runtime's own (arch/context.hpp).
#pragma once

#include <cstddef>
#include <memory>

#include "arch/context.hpp"

namespace weft::model {

class fiber {
 public:
  fiber() : stack_(new std::byte[kStackBytes]) {}

  // What it will do when it is switched to; main never returns. Whatever it was doing before is forgotten.
  void prepare(void (*main)(void*), void* arg) noexcept {
    const auto top =
        reinterpret_cast<std::uintptr_t>(stack_.get() + kStackBytes) & ~std::uintptr_t{15};
    arch::make_context(&context, reinterpret_cast<void*>(top), main, arg);
  }

  arch::context context{};

 private:
  static constexpr std::size_t kStackBytes = std::size_t{64} << 10;
  std::unique_ptr<std::byte[]> stack_;
};

}  // namespace weft::model
