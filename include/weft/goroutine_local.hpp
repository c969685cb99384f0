// goroutine_local.hpp: the thread_local of goroutines.
//
//   weft::goroutine_local<request_id> current;
//   *current = id;                        // this goroutine's own, made on first use, destroyed when it ends
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include <weft/detail/config.hpp>

namespace weft::inline v1 {

namespace detail {

// A value is found by its key and its type.
struct local_key {
  std::uintptr_t id;
  const void* type;
};
WEFT_API void* find_local(local_key key) noexcept;
WEFT_API void insert_local(local_key key, void* value, void (*destroy)(void*));
WEFT_API std::uintptr_t new_local_id() noexcept;

template <class T, bool IsObject>
inline constexpr char kLocalType = 0;

template <class T, bool IsObject, class Make>
T& local_value(std::uintptr_t id, Make&& make) {
  const local_key key{id, &kLocalType<T, IsObject>};
  if (void* found = find_local(key)) return *static_cast<T*>(found);
  std::unique_ptr<T> fresh = make();
  insert_local(key, fresh.get(), [](void* p) { delete static_cast<T*>(p); });
  return *fresh.release();
}

}  // namespace detail

// Each goroutine (and each plain thread) has its own T, copied from the initial value on first use and destroyed
// when the goroutine ends. The object itself must outlive nobody: values stay until their goroutine ends.
template <class T>
class goroutine_local {
 public:
  goroutine_local()
    requires std::is_default_constructible_v<T>
      : initial_() {}
  explicit goroutine_local(T initial) : initial_(std::move(initial)) {}
  goroutine_local(const goroutine_local&) = delete;
  goroutine_local& operator=(const goroutine_local&) = delete;

  T& get() const {
    return detail::local_value<T, true>(id_, [&initial = initial_] {
      if constexpr (std::is_copy_constructible_v<T>) {
        return std::make_unique<T>(initial);
      } else {
        static_cast<void>(initial);
        return std::make_unique<T>();
      }
    });
  }
  T& operator*() const { return get(); }
  T* operator->() const { return std::addressof(get()); }

 private:
  T initial_;
  const std::uintptr_t id_ = detail::new_local_id();
};

namespace this_goroutine {

// This goroutine's T under a key of the user's choice (the address of anything), value-initialised on first use.
template <class T>
T& local(const void* key) {
  return detail::local_value<T, false>(reinterpret_cast<std::uintptr_t>(key),
                                       [] { return std::make_unique<T>(); });
}

template <class T>
T& local(const goroutine_local<T>& key) {
  return key.get();
}

}  // namespace this_goroutine
}  // namespace weft::inline v1
