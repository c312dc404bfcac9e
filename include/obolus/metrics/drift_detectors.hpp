// Detectors of drift in a stream of numbers, such as losses or errors: add() says whether the stream has changed.
// Both restart from what came after the change, and continue from a saved state with the same bits.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "obolus/core/archive.hpp"
#include "obolus/core/options.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus {

struct AdwinOptions {
  double delta = 0.002;
  std::int64_t clock = 32;

  template <class V>
  void describe(V&& v) {
    v("delta", delta, "confidence: a check on a still stream alarms with about this probability at most",
      Range{.min = 0.0, .max = 1.0, .open = true});
    v("clock", clock, "rows between checks", Range::between(1, 1e9));
  }
};

// ADWIN2 (Bifet and Gavaldà, «Learning from time-changing data with adaptive windowing», SDM 2007), with the constants
// of MOA. The window is an exponential histogram: buckets of 1, 2, 4, … numbers, at most 5 of a size, of which the
// oldest two merge when there are 6. At every `clock`-th number, while some boundary between buckets cuts the window of
// n numbers into n0 old and n1 new ones, each at least 7, with
//     |mean0 − mean1| > ε = √(2 m σ² d) + ⅔ m d,   d = ln(2 ln n / δ),   m = 1/(n0 − 4) + 1/(n1 − 4),
// σ² the variance of the window, the oldest bucket is dropped; the alarm is that one was. Numbers are meant to be in
// [0, 1]: the last term of ε is too small for wider ranges.
//
// Memory is O(log n). Means and variances are merged from the buckets on demand, never updated by subtraction, so that
// rounding errors do not accumulate.
class Adwin {
 public:
  explicit Adwin(const AdwinOptions& options = {});

  // True where the window shrank. Throws a DataError for a number that is not finite.
  bool add(double value);

  [[nodiscard]] std::int64_t width() const { return width_; }    // n
  [[nodiscard]] double mean() const { return window().mean(); }  // 0 without numbers
  [[nodiscard]] double variance() const;                         // σ², divided by n; 0 without numbers
  // At the last alarm, the mean of what was kept minus that of what was dropped: whether the numbers rose or fell.
  [[nodiscard]] double last_change() const { return last_change_; }

  void fields(Archive& a);

 private:
  static constexpr int max_of_a_size = 5;

  // Some numbers: how many, their sum, and the sum of squares around their mean.
  struct Part {
    double count = 0.0, sum = 0.0, squares = 0.0;
    [[nodiscard]] double mean() const { return count > 0.0 ? sum / count : 0.0; }
    // Chan, Golub and LeVeque: S = S_a + S_b + n_a n_b/(n_a + n_b)·(mean_a − mean_b)².
    void merge(const Part& other);
  };
  // Buckets of one size, oldest first; one more than allowed, until the oldest two merge.
  struct Size {
    int count = 0;
    std::array<Part, max_of_a_size + 1> buckets{};
    void append(const Part& bucket) { buckets[to_size(count++)] = bucket; }
    void drop_oldest(int how_many);
  };

  void insert(double value);
  Part drop_oldest();
  [[nodiscard]] Part window() const;
  [[nodiscard]] bool is_cut() const;

  AdwinOptions o_;
  std::vector<Size> sizes_;  // sizes_[r]: buckets of 2^r numbers; the last is never empty
  std::int64_t width_ = 0, added_ = 0;
  double last_change_ = 0.0;
};

enum class DriftDirection : std::uint8_t { up, down, both };
template <>
struct EnumNames<DriftDirection> {
  static constexpr std::array<std::pair<DriftDirection, std::string_view>, 3> values{
      {{DriftDirection::up, "up"}, {DriftDirection::down, "down"}, {DriftDirection::both, "both"}}};
};

struct PageHinkleyOptions {
  double delta = 0.005;
  double lambda = 50.0;
  double alpha = 0.9999;
  std::int64_t min_rows = 30;
  DriftDirection direction = DriftDirection::up;

  template <class V>
  void describe(V&& v) {
    v("delta", delta, "changes of the mean that do not count", Range::at_least(0.0));
    v("lambda", lambda, "threshold of the summed excess", Range::positive());
    v("alpha", alpha, "part of the sums that is kept from row to row; 1: all",
      Range{.min = 0.0, .max = 1.0, .open = true});
    v("least_rows", min_rows, "rows before the first alarm, and after each", Range::between(1, 1e15));
    v("direction", direction, "whether the mean has to rise, to fall, or either");
  }
};

// Page–Hinkley (Page, «Continuous inspection schemes», Biometrika 41, 1954; Hinkley 1971), with forgetting:
//     up_t = max(0, α·up_{t−1} + x_t − x̄_t − δ),   down_t = max(0, α·down_{t−1} − x_t + x̄_t − δ),
// x̄_t the mean of x_1, …, x_t; an alarm where one exceeds λ, after which everything restarts. With α = 1, up_t is the
// classical statistic m_t − min_{s ≤ t} m_s of m_t = Σ_{s ≤ t} (x_s − x̄_s − δ), m_0 = 0.
// MOA takes that difference for every α; with α < 1 its sums fade and their minimum does not.
class PageHinkley {
 public:
  explicit PageHinkley(const PageHinkleyOptions& options = {});

  // True where the mean has changed. Throws a DataError for a number that is not finite.
  bool add(double value);

  [[nodiscard]] std::int64_t rows() const { return rows_; }  // since the last alarm
  [[nodiscard]] double mean() const { return mean_; }
  [[nodiscard]] double up() const { return up_; }
  [[nodiscard]] double down() const { return down_; }

  void fields(Archive& a) {
    a("rows", rows_);
    a("mean", mean_);
    a("up", up_);
    a("down", down_);
  }

 private:
  PageHinkleyOptions o_;
  std::int64_t rows_ = 0;
  double mean_ = 0.0, up_ = 0.0, down_ = 0.0;
};

}  // namespace obolus
