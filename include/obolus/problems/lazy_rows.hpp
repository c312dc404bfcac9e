// The inner iterate of `softmax_l2`: weights θ_i of every feature in every class, as θ_i = scale_i · rows_i. Shrinking
// a feature is then one multiplication, however many classes there are.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "obolus/core/archive.hpp"
#include "obolus/core/memory.hpp"
#include "obolus/core/to_size.hpp"
#include "obolus/core/types.hpp"

namespace obolus {

// Numbers on cache lines, zero at first.
template <class S>
class AlignedNumbers {
 public:
  AlignedNumbers() = default;
  explicit AlignedNumbers(Index size) : size_(size) {
    if (size == 0) return;
    const std::size_t bytes = to_size(size) * sizeof(S);
    data_ = static_cast<S*>(allocate_lines(bytes));
    std::memset(static_cast<void*>(data_), 0, bytes);
  }
  AlignedNumbers(const AlignedNumbers& other) : AlignedNumbers(other.size_) { *this = other; }
  AlignedNumbers(AlignedNumbers&& other) noexcept { swap(other); }
  AlignedNumbers& operator=(const AlignedNumbers& other) {
    if (this == &other) return *this;
    if (size_ != other.size_) AlignedNumbers(other.size_).swap(*this);
    if (size_ > 0) std::memcpy(static_cast<void*>(data_), other.data_, to_size(size_) * sizeof(S));
    return *this;
  }
  AlignedNumbers& operator=(AlignedNumbers&& other) noexcept {
    swap(other);
    return *this;
  }
  ~AlignedNumbers() { std::free(data_); }

  void swap(AlignedNumbers& other) noexcept { std::swap(data_, other.data_), std::swap(size_, other.size_); }
  [[nodiscard]] S* data() const { return data_; }
  [[nodiscard]] Index size() const { return size_; }
  [[nodiscard]] S& operator[](Index i) const { return data_[i]; }
  void grow(Index size) {
    if (size > size_) AlignedNumbers(size).swap(*this);
  }
  [[nodiscard]] Eigen::Map<Vector<S>> vector() const { return {data_, size_}; }

  void fields(Archive& a) {
    Vector<S> numbers = vector();
    a("numbers", numbers);
    vector() = numbers;
  }

 private:
  S* data_ = nullptr;
  Index size_ = 0;
};

// Five numbers per feature besides its weights: scale, norm and pair here, scale and norm in the partner's. A row of
// weights is cut in two, whole cache lines and what is left, each in an array of its own; what is beyond the classes is
// 0.
template <class S>
struct LazyRows {
  Index features = 0, classes = 0, line_width = 0, rest_width = 0;
  AlignedNumbers<S> lines, rest;
  AlignedNumbers<S> scale;  // θ_i = scale_i rows_i
  AlignedNumbers<S> norm;   // |θ_i|²
  AlignedNumbers<S> pair;   // <partner_i, θ_i>, or |θ_i|² − |partner_i|²; true while their marks are a pair's
  std::uint64_t mark = 0;   // 0: no partner
  bool finite = false;      // known to be, from the kernels that changed it; otherwise one has to look

  [[nodiscard]] Eigen::Map<Vector<S>> line_of(Index i) const { return {lines.data() + i * line_width, line_width}; }
  [[nodiscard]] Eigen::Map<Vector<S>> rest_of(Index i) const { return {rest.data() + i * rest_width, rest_width}; }
  // Classes in the lines, and the others, in the rest.
  [[nodiscard]] Index in_lines() const { return std::min(classes, line_width); }
  [[nodiscard]] Index in_rest() const { return classes - in_lines(); }

  // Changed by itself.
  void part() {
    mark = 0;
    finite = false;
  }

  void fields(Archive& a) {
    a("lines", lines);
    a("rest", rest);
    a("scale", scale);
    a("norm", norm);
    a("pair", pair);
    a("mark", mark);
    finite = false;
  }
};

}  // namespace obolus
