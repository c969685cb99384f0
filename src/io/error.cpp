// error.cpp: the category of weft's own I/O errors.
#include <weft/io/error.hpp>

namespace weft::inline v1::io {

namespace {

class io_category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "weft.io"; }
  std::string message(int value) const override {
    switch (static_cast<errc>(value)) {
      case errc::closed:
        return "use of something closed";
      case errc::deadline_exceeded:
        return "i/o timeout";
      case errc::unexpected_eof:
        return "unexpected end of the stream";
    }
    return "unknown error";
  }
  std::error_condition default_error_condition(int value) const noexcept override {
    switch (static_cast<errc>(value)) {
      case errc::closed:
        return std::errc::bad_file_descriptor;
      case errc::deadline_exceeded:
        return std::errc::timed_out;
      case errc::unexpected_eof:
        break;
    }
    return {value, *this};
  }
};

}  // namespace

// Never destroyed: threads may still ask when static destructors run.
const std::error_category& category() noexcept {
  static const io_category& only = *new io_category;
  return only;
}

std::error_code make_error_code(errc e) noexcept { return {static_cast<int>(e), category()}; }

}  // namespace weft::inline v1::io
