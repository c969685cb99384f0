// type_tag.hpp: an address for each type, where typeid would need RTTI. Not for users.
#pragma once

#include <weft/detail/config.hpp>

namespace weft::inline v1::detail {

// The same in every shared object that sees the type; of a type in an unnamed namespace, one per file. Not const: a linker may fold
// constants that look alike.
template <class T>
struct WEFT_API type_tag {
  static inline char id;
};

}  // namespace weft::inline v1::detail
