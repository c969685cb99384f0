// interpose.cpp: the functions that may take a lock outside weft. Each says that it was called, then does its work.
//
// They stand in the program itself, so that every library of the process finds these first. malloc and its kin go on in the C
// library under the other names it has for them; for the rest the next definition is looked up, once, before main().
// Locks inside the C library (of stdio, the loader, malloc's arenas) cannot be seen, hence their callers are watched.
//
// Compiled with -fno-builtin: the compiler must not know what malloc does.
#include <cxxabi.h>
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cerrno>

#include "bracket/watch.hpp"

using weft::test::bracket::call;
using weft::test::bracket::saw;

namespace {

void* next_definition(std::atomic<void*>& slot, const char* name) noexcept {
  void* found = slot.load(std::memory_order_acquire);
  if (found != nullptr) return found;
  found = dlsym(RTLD_NEXT, name);
  if (found == nullptr) abort();
  slot.store(found, std::memory_order_release);
  return found;
}

constinit call malloc_call{"malloc"}, free_call{"free"}, calloc_call{"calloc"},
    realloc_call{"realloc"}, memalign_call{"memalign"};

}  // namespace

extern "C" {

void* __libc_malloc(size_t bytes);
void __libc_free(void* p);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* p, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);

void* malloc(size_t bytes) noexcept {
  saw(malloc_call);
  return __libc_malloc(bytes);
}

void free(void* p) noexcept {
  saw(free_call);
  __libc_free(p);
}

void* calloc(size_t count, size_t bytes) noexcept {
  saw(calloc_call);
  return __libc_calloc(count, bytes);
}

void* realloc(void* p, size_t bytes) noexcept {
  saw(realloc_call);
  return __libc_realloc(p, bytes);
}

void* memalign(size_t alignment, size_t bytes) noexcept {
  saw(memalign_call);
  return __libc_memalign(alignment, bytes);
}

void* aligned_alloc(size_t alignment, size_t bytes) noexcept {
  saw(memalign_call);
  return __libc_memalign(alignment, bytes);
}

int posix_memalign(void** p, size_t alignment, size_t bytes) noexcept {
  saw(memalign_call);
  *p = __libc_memalign(alignment, bytes);
  return *p != nullptr ? 0 : ENOMEM;
}

// WATCH(function, (parameters), (arguments)): an interposed function whose type is that of the header.
#define WATCH(result, name, parameters, arguments, ...)                                    \
  result name parameters __VA_ARGS__ {                                                     \
    static constinit call seen{#name};                                                     \
    static constinit std::atomic<void*> slot{nullptr};                                     \
    saw(seen);                                                                             \
    return reinterpret_cast<result(*) parameters>(next_definition(slot, #name)) arguments; \
  }

// --- threads and locks ---
WATCH(int, pthread_mutex_lock, (pthread_mutex_t * m), (m), noexcept)
WATCH(int, pthread_rwlock_rdlock, (pthread_rwlock_t * l), (l), noexcept)
WATCH(int, pthread_rwlock_wrlock, (pthread_rwlock_t * l), (l), noexcept)
WATCH(int, pthread_cond_wait, (pthread_cond_t * c, pthread_mutex_t* m), (c, m))
WATCH(int, pthread_create, (pthread_t * t, const pthread_attr_t* a, void* (*f)(void*), void* arg),
      (t, a, f, arg), noexcept)
WATCH(int, pthread_join, (pthread_t t, void** result), (t, result))
WATCH(int, pthread_getattr_np, (pthread_t t, pthread_attr_t* a), (t, a), noexcept)
WATCH(int, pthread_setname_np, (pthread_t t, const char* name), (t, name), noexcept)
WATCH(int, __cxa_thread_atexit, (void (*f)(void*), void* object, void* module), (f, object, module),
      noexcept)

// What is done already takes no lock: the unwinder asks each time.
int pthread_once(pthread_once_t* once, void (*function)()) {
  constexpr int kDone = 2;  // the C library's own
  static constinit call seen{"pthread_once"};
  static constinit std::atomic<void*> slot{nullptr};
  if (__atomic_load_n(once, __ATOMIC_ACQUIRE) != kDone) saw(seen);
  return reinterpret_cast<int (*)(pthread_once_t*, void (*)())>(
      next_definition(slot, "pthread_once"))(once, function);
}

// --- the loader ---
WATCH(int, dl_iterate_phdr, (int (*f)(dl_phdr_info*, size_t, void*), void* arg), (f, arg))
WATCH(void*, dlopen, (const char* file, int mode), (file, mode), noexcept)
WATCH(int, dladdr, (const void* address, Dl_info* info), (address, info), noexcept)

// --- stdio ---
WATCH(size_t, fwrite, (const void* p, size_t size, size_t n, FILE* f), (p, size, n, f))
WATCH(size_t, fread, (void* p, size_t size, size_t n, FILE* f), (p, size, n, f))
WATCH(int, fputs, (const char* s, FILE* f), (s, f))
WATCH(int, puts, (const char* s), (s))
WATCH(int, fputc, (int c, FILE* f), (c, f))
WATCH(int, putc, (int c, FILE* f), (c, f))
WATCH(char*, fgets, (char* s, int n, FILE* f), (s, n, f))
WATCH(int, fflush, (FILE * f), (f))
WATCH(FILE*, fopen, (const char* file, const char* mode), (file, mode))
WATCH(int, fclose, (FILE * f), (f))
WATCH(int, vfprintf, (FILE * f, const char* format, va_list values), (f, format, values))

int fprintf(FILE* f, const char* format, ...) {
  va_list values;
  va_start(values, format);
  const int n = vfprintf(f, format, values);
  va_end(values);
  return n;
}

int printf(const char* format, ...) {
  va_list values;
  va_start(values, format);
  const int n = vfprintf(stdout, format, values);
  va_end(values);
  return n;
}

}  // extern "C"

// --- exceptions, and function-local statics that are initialised at run time ---
namespace __cxxabiv1 {
extern "C" {

WATCH(void*, __cxa_allocate_exception, (size_t bytes), (bytes), noexcept)
WATCH(int, __cxa_guard_acquire, (__guard * g), (g))

__attribute__((noreturn)) void __cxa_throw(void* thrown, std::type_info* type,
                                           void (*destroy)(void*)) {
  static constinit call seen{"__cxa_throw"};
  static constinit std::atomic<void*> slot{nullptr};
  saw(seen);
  reinterpret_cast<void (*)(void*, std::type_info*, void (*)(void*))>(
      next_definition(slot, "__cxa_throw"))(thrown, type, destroy);
  __builtin_unreachable();
}

}  // extern "C"
}  // namespace __cxxabiv1
