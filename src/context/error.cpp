// error.cpp: why a context has ended, as an error_code.
#include <cstddef>
#include <new>
#include <string>

#include <weft/context.hpp>

namespace weft::inline v1 {

namespace {

class category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "weft.context"; }
  std::string message(int e) const override {
    return e == static_cast<int>(context_errc::deadline_exceeded) ? "context deadline exceeded"
                                                                  : "context canceled";
  }
  std::error_condition default_error_condition(int e) const noexcept override {
    return e == static_cast<int>(context_errc::deadline_exceeded) ? std::errc::timed_out
                                                                  : std::errc::operation_canceled;
  }
};

}  // namespace

const std::error_category& context_category() noexcept {
  alignas(category) static std::byte
      memory[sizeof(category)];  // never destroyed: others may ask at exit
  static const category* const only = ::new (memory) category;
  return *only;
}

std::error_code make_error_code(context_errc e) noexcept {
  return {static_cast<int>(e), context_category()};
}

context_error::context_error(std::error_code why) : std::system_error(why) {}

}  // namespace weft::inline v1
