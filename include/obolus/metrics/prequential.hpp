// Running means of what a problem judges, each round before the optimiser learns from it.
#pragma once

#include <cstdint>

#include "obolus/core/archive.hpp"
#include "obolus/core/error.hpp"
#include "obolus/core/evaluation.hpp"

namespace obolus {

class Prequential {
 public:
  void add(const Evaluation& judged) {
    if (rounds_ == 0) {
      sums_ = judged;
    } else {
      require_same_names(judged);
      auto sum = sums_.begin();
      for (const auto& [name, value] : judged) (sum++)->value += value;
    }
    ++rounds_;
  }

  // The means as prequential_<name>, with `judged` counted as one more round, whether or not it is added later.
  void append_means_with(const Evaluation& judged, Evaluation& out) const {
    Prequential all = *this;
    all.add(judged);
    for (const auto& [name, sum] : all.sums_) out.add("prequential_" + name, sum / static_cast<double>(all.rounds_));
  }

  void fields(Archive& a) {
    a("rounds", rounds_);
    a("sums", sums_);
  }

 private:
  void require_same_names(const Evaluation& judged) const {
    bool same = judged.size() == sums_.size();
    auto sum = sums_.begin();
    for (auto n = judged.begin(); same && n != judged.end(); ++n, ++sum) same = n->name == sum->name;
    if (!same) throw DataError("judge: the problem gives other names than in earlier rounds");
  }

  std::int64_t rounds_ = 0;
  Evaluation sums_;
};

}  // namespace obolus
