// list.hpp: intrusive lists. Membership costs one or two pointers inside the element and never allocates.
//
// forward_queue  FIFO through one link: run queues, batches on their way to one.
// linked_list    removal from the middle through two links: idle threads and processors.
//
// Neither locks. An element is in at most one list per link; in debug builds a second insertion, or the removal of an
// element that is not in the list, is caught.
#pragma once

#include <cstddef>
#include <utility>

#include "base/check.hpp"

namespace weft::base {

template <class T, T* T::* Next>
class forward_queue {
 public:
  bool empty() const noexcept { return head_ == nullptr; }
  std::size_t size() const noexcept { return size_; }
  T* front() const noexcept { return head_; }

  void push_back(T* element) noexcept {
    element->*Next = nullptr;
    (tail_ ? tail_->*Next : head_) = element;
    tail_ = element;
    ++size_;
  }

  void push_front(T* element) noexcept {
    element->*Next = head_;
    head_ = element;
    if (!tail_) tail_ = element;
    ++size_;
  }

  T* pop_front() noexcept {
    T* const element = head_;
    if (!element) return nullptr;
    head_ = std::exchange(element->*Next, nullptr);
    if (!head_) tail_ = nullptr;
    --size_;
    return element;
  }

  // Takes the one that `index` others stand before, or null: so many links are followed.
  T* take_at(std::size_t index) noexcept {
    if (index == 0) return pop_front();
    if (index >= size_) return nullptr;
    T* before = head_;
    while (--index > 0) before = before->*Next;
    T* const element = before->*Next;
    before->*Next = std::exchange(element->*Next, nullptr);
    if (tail_ == element) tail_ = before;
    --size_;
    return element;
  }

  // Appends all of `other`, which is empty afterwards.
  void splice_back(forward_queue& other) noexcept {
    if (other.empty()) return;
    (tail_ ? tail_->*Next : head_) = other.head_;
    tail_ = other.tail_;
    size_ += other.size_;
    other = forward_queue{};
  }

 private:
  T* head_ = nullptr;
  T* tail_ = nullptr;
  std::size_t size_ = 0;
};

template <class T>
struct list_link {
  T* next = nullptr;
  T* prev = nullptr;
  const void* owner = nullptr;  // the list it is in
};

template <class T, list_link<T> T::* Link>
class linked_list {
 public:
  linked_list() noexcept = default;
  linked_list(const linked_list&) = delete;
  linked_list& operator=(const linked_list&) = delete;

  bool empty() const noexcept { return head_ == nullptr; }
  std::size_t size() const noexcept { return size_; }
  T* front() const noexcept { return head_; }
  T* next(const T* element) const noexcept { return (element->*Link).next; }
  bool contains(const T* element) const noexcept { return (element->*Link).owner == this; }

  void push_front(T* element) noexcept {
    list_link<T>& link = element->*Link;
    WEFT_CHECK(link.owner == nullptr, "the element is in a list already");
    link = {head_, nullptr, this};
    (head_ ? (head_->*Link).prev : tail_) = element;
    head_ = element;
    ++size_;
  }

  void push_back(T* element) noexcept {
    list_link<T>& link = element->*Link;
    WEFT_CHECK(link.owner == nullptr, "the element is in a list already");
    link = {nullptr, tail_, this};
    (tail_ ? (tail_->*Link).next : head_) = element;
    tail_ = element;
    ++size_;
  }

  void remove(T* element) noexcept {
    list_link<T>& link = element->*Link;
    WEFT_CHECK(link.owner == this, "the element is not in this list");
    (link.prev ? (link.prev->*Link).next : head_) = link.next;
    (link.next ? (link.next->*Link).prev : tail_) = link.prev;
    link = {};
    --size_;
  }

  T* pop_front() noexcept {
    T* const element = head_;
    if (element) remove(element);
    return element;
  }

 private:
  T* head_ = nullptr;
  T* tail_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace weft::base
