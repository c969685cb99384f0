// foreign_buffers.hpp: reading into and writing from the buffers of other libraries, for everything that reads and writes.
//
// A class that derives from foreign_buffers<itself> has read_some() and write_some() also for buffers and error codes that a header of weft's
// knows: with <weft/beast.hpp> it is a SyncReadStream and a SyncWriteStream of Boost.Asio's. That header defines read_some_into() and
// write_some_from() in this namespace; they are found there because this base is one of it. Without such a header nothing here takes part.
#pragma once

#include <cstddef>

#include <weft/detail/config.hpp>

namespace weft::inline v1::io {

template <class Self>
class foreign_buffers {
 public:
  template <class Buffers>
    requires requires(const Self& s, const Buffers& b) { read_some_into(s, b); }
  WEFT_MAY_SWITCH std::size_t read_some(const Buffers& into) const {
    return read_some_into(self(), into);
  }
  template <class Buffers, class ErrorCode>
    requires requires(const Self& s, const Buffers& b, ErrorCode& ec) { read_some_into(s, b, ec); }
  WEFT_MAY_SWITCH std::size_t read_some(const Buffers& into, ErrorCode& ec) const {
    return read_some_into(self(), into, ec);
  }
  template <class Buffers>
    requires requires(const Self& s, const Buffers& b) { write_some_from(s, b); }
  WEFT_MAY_SWITCH std::size_t write_some(const Buffers& from) const {
    return write_some_from(self(), from);
  }
  template <class Buffers, class ErrorCode>
    requires requires(const Self& s, const Buffers& b, ErrorCode& ec) { write_some_from(s, b, ec); }
  WEFT_MAY_SWITCH std::size_t write_some(const Buffers& from, ErrorCode& ec) const {
    return write_some_from(self(), from, ec);
  }

 protected:
  foreign_buffers() noexcept = default;

 private:
  const Self& self() const noexcept { return static_cast<const Self&>(*this); }
};

}  // namespace weft::inline v1::io
