// keep_loaded.cpp: see keep_loaded.hpp.
//
// libweft.so is linked with -z nodelete (cmake/library.cmake), which is the same promise made by the file. The static library in
// somebody's plugin has nobody to make it but the running code.
#include "os/keep_loaded.hpp"

#include <dlfcn.h>
#include <link.h>

// Weak: a static program has none that would be of use, and asking for it there costs a warning of the linker's.
extern "C" [[gnu::weak]] void* dlopen(const char* file,
                                      int mode) noexcept(noexcept(::dlopen(nullptr, 0)));

namespace weft::os {

namespace {
constinit const char here = 0;  // in the object that is meant
}

// By the very name under which it is loaded, so nothing is looked for in the file system. Should there be no memory for that, the object
// can be unloaded as any other: there is nobody to tell, and nothing has gone wrong yet.
void keep_loaded() noexcept {
  Dl_info found{};
  void* extra = nullptr;
  if (::dladdr1(&here, &found, &extra, RTLD_DL_LINKMAP) == 0 || extra == nullptr) return;
  const char* const name = static_cast<const link_map*>(extra)->l_name;
  if (name == nullptr || *name == '\0' || ::dlopen == nullptr) return;  // the program itself
  ::dlopen(name, RTLD_NOLOAD | RTLD_NODELETE | RTLD_LAZY);              // not closed again
}

}  // namespace weft::os
