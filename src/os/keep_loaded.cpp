// keep_loaded.cpp: see keep_loaded.hpp.
//
// libweft.so is linked with -z nodelete (cmake/library.cmake), which is the same promise made by the file. The static library in
// somebody's plugin has nobody to make it but the running code.
#include "os/keep_loaded.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstddef>
#include <cstdint>

namespace weft::os {

namespace {

constinit const char here = 0;  // in the object that is meant

bool holds(const dl_phdr_info& object, const void* what) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(what);
  for (std::size_t i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object.dlpi_phdr[i];
    const std::uintptr_t low = object.dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && address - low < segment.p_memsz) return true;
  }
  return false;
}

int find_name(dl_phdr_info* object, std::size_t, void* into) {
  if (!holds(*object, &here)) return 0;
  *static_cast<const char**>(into) = object->dlpi_name;
  return 1;
}

}  // namespace

// By the very name under which it is loaded, so nothing is looked for in the file system. Should there be no memory for that, the object
// can be unloaded as any other: there is nobody to tell, and nothing has gone wrong yet.
//
// dlopen is asked for by name, since naming it in the code costs whoever links a static program a warning of the linker's.
void keep_loaded() noexcept {
  const char* name = nullptr;
  ::dl_iterate_phdr(&find_name, &name);
  if (name == nullptr || *name == '\0') return;  // the program itself
  using function = void* (*)(const char* file, int mode);
  if (const auto open = reinterpret_cast<function>(::dlsym(RTLD_DEFAULT, "dlopen")))
    open(name, RTLD_NOLOAD | RTLD_NODELETE | RTLD_LAZY);  // not closed again
}

}  // namespace weft::os
