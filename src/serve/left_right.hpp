// Two equal copies of a state: readers use the one that is shown, the writer changes the one that is hidden, swaps
// them, and makes the same changes to the other. Readers never wait. (Ramalhete and Correia's left–right.)
#pragma once

#include <array>
#include <atomic>
#include <thread>
#include <utility>

namespace obolus::serve {

template <class T>
class LeftRight {
  struct Side;

 public:
  LeftRight(T one, T equal) : sides_{Side{std::move(one)}, Side{std::move(equal)}} {}

  // While it lives, what it shows does not change.
  class Reading {
   public:
    explicit Reading(const LeftRight& of) {
      while (true) {
        const int shown = of.shown_.load();
        side_ = &of.sides_[static_cast<std::size_t>(shown)];
        side_->readers.fetch_add(1);
        if (of.shown_.load() == shown) return;  // else the writer may not have seen this reader
        side_->readers.fetch_sub(1);
      }
    }
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;
    ~Reading() { side_->readers.fetch_sub(1); }
    [[nodiscard]] const T& operator*() const { return side_->state; }
    [[nodiscard]] const T* operator->() const { return &side_->state; }

   private:
    const Side* side_;
  };

  [[nodiscard]] Reading read() const { return Reading(*this); }

  // For the one writer.
  [[nodiscard]] T& hidden() { return sides_[static_cast<std::size_t>(1 - shown_.load())].state; }
  [[nodiscard]] T& shown() { return sides_[static_cast<std::size_t>(shown_.load())].state; }
  // Returns when nobody reads what is hidden now.
  void swap() {
    const int before = shown_.load();
    shown_.store(1 - before);
    while (sides_[static_cast<std::size_t>(before)].readers.load() > 0) std::this_thread::yield();
  }

 private:
  struct Side {
    explicit Side(T s) : state(std::move(s)) {}
    Side(Side&& other) noexcept : state(std::move(other.state)) {}
    T state;
    alignas(64) mutable std::atomic<int> readers{0};
  };
  std::array<Side, 2> sides_;
  alignas(64) std::atomic<int> shown_{0};
};

}  // namespace obolus::serve
