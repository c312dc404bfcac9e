// What `obolus fit` tunes: a few numbers, most of them as logarithms, tracked by a filter.
//
// The places θ are believed to wander: P, the covariance of what is not known of them, grows in every round by each
// one's drift q, up to its prior variance P0, and shrinks by what the round's rows tell,
//     P ← P + q (1 − P/P0);   P ← (I + n P M)⁻¹ P;   θ ← θ − n P slope,
// n rows with the mean slope of their losses by θ and its mean Gauss–Newton information M. The step is long where
// little is known and never shrinks to nothing, since q comes anew; no memory of earlier slopes can freeze it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "fit/model/saved_vectors.hpp"
#include "obolus/core/archive.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus::fit {

enum class Tunable : std::uint8_t { rate, l2, temperature, replay, shift, scale, recent };

struct Hyperparameter {
  Tunable kind = Tunable::rate;
  std::int32_t index = 0;  // of the group or class
  double place = 0;        // the logarithm; a shift itself
  double low = 0, high = 0;
  bool tuned = false;
  double drift = 0, prior = 0;  // q and P0
  std::int64_t at_bound = 0;    // rounds that ended there

  // Whether there is a derivative of the weights by it: it is tuned, and training depends on it.
  [[nodiscard]] bool has_part() const { return tuned && kind != Tunable::temperature; }
  [[nodiscard]] double value() const { return kind == Tunable::shift ? place : std::exp(place); }
  void fields(Archive& a) {
    a("kind", kind);
    a("index", index);
    a("place", place);
    a("low", low);
    a("high", high);
    a("tuned", tuned);
    a("drift", drift);
    a("prior", prior);
    a("at_bound", at_bound);
  }
};

class Hyperparameters {
 public:
  std::vector<Hyperparameter> list;

  void put(const Hyperparameter& h) {
    list.push_back(h);
    const std::size_t n = list.size();
    std::vector<double> larger(n * n);
    for (std::size_t i = 0; i + 1 < n; ++i)
      for (std::size_t j = 0; j + 1 < n; ++j) larger[i * n + j] = covariance_[i * (n - 1) + j];
    if (h.tuned) larger[n * n - 1] = h.prior;
    covariance_ = std::move(larger);
  }
  [[nodiscard]] const Hyperparameter* find(Tunable kind, int index = 0) const {
    for (const Hyperparameter& h : list)
      if (h.kind == kind && h.index == index) return &h;
    return nullptr;
  }
  [[nodiscard]] double value(Tunable kind, double otherwise, int index = 0) const {
    const Hyperparameter* h = find(kind, index);
    return h ? h->value() : otherwise;
  }

  // One part for the weights, and one for each derivative of them; groups of features with an L2 of their own.
  [[nodiscard]] int parts() const {
    return 1 + static_cast<int>(std::ranges::count_if(list, &Hyperparameter::has_part));
  }
  [[nodiscard]] int groups() const {
    return std::max(1, static_cast<int>(std::ranges::count(list, Tunable::l2, &Hyperparameter::kind)));
  }

  // Down the mean slopes of some rows, one for every entry of the list, with their mean information, one per pair.
  void step(const std::vector<double>& slopes, const std::vector<double>& information, double rows);

  // Of those that are tuned, in their order.
  void put_places(const std::vector<double>& places) {
    std::size_t next = 0;
    for (Hyperparameter& h : list)
      if (h.tuned && next < places.size()) h.place = places[next++];
  }

  // What is loaded must be like this list, except that more groups may have an L2 of their own.
  void fields(Archive& a);

 private:
  [[nodiscard]] bool is_like(const std::vector<Hyperparameter>& made) const;
  void wander();
  [[nodiscard]] bool learn(const std::vector<double>& information, double rows);

  std::vector<double> covariance_;  // P, by pairs of the list; 0 for what is not tuned
  std::vector<double> work_;        // scratch
};

}  // namespace obolus::fit
