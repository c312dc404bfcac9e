// The rounds revealed so far, and only those: for algorithms with a window of past functions.
#pragma once

#include <algorithm>
#include <cstdint>

#include "obolus/core/oracle.hpp"

namespace obolus {

// Stores nothing of past rounds: a stream can reveal any round again. Round `now` is current again at the end.
template <Stream P>
class PastRounds {
 public:
  PastRounds(P& problem, Round now, std::int64_t window)
      : problem_(&problem), now_(now), count_(std::min<std::int64_t>(window, now)) {}

  // look(age) with the functions of round now − age current, for age = 0, 1, … as far as the window and round 1 reach.
  template <class Look>
  void each(Look&& look) {
    for (std::int64_t age = 0; age < count_; ++age) {
      if (age > 0) problem_->reveal(now_ - age);
      look(age);
    }
    if (count_ > 1) problem_->reveal(now_);
  }

  // The same, the oldest first.
  template <class Look>
  void each_oldest_first(Look&& look) {
    for (std::int64_t age = count_ - 1; age >= 0; --age) {
      if (count_ > 1) problem_->reveal(now_ - age);
      look(age);
    }
  }

 private:
  P* problem_;
  Round now_;
  std::int64_t count_;
};

}  // namespace obolus
