// What `obolus fit` tunes: a few numbers, most of them as logarithms, each with bounds and a step of Adam.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fit/model/saved_vectors.hpp"
#include "obolus/core/archive.hpp"

namespace obolus::fit {

enum class Tunable : std::uint8_t { rate, l2, temperature, replay, shift, scale };

struct Hyperparameter {
  Tunable kind = Tunable::rate;
  std::int32_t index = 0;  // of the group or class
  double place = 0;        // the logarithm; a shift itself
  double low = 0, high = 0, step = 0;
  bool tuned = false;
  double mean = 0, square = 0;

  // Whether there is a derivative of the weights by it: it is tuned, and training depends on it.
  [[nodiscard]] bool has_part() const { return tuned && kind != Tunable::temperature; }
  [[nodiscard]] double value() const { return kind == Tunable::shift ? place : std::exp(place); }
  void fields(Archive& a) {
    a("kind", kind);
    a("index", index);
    a("place", place);
    a("low", low);
    a("high", high);
    a("step", step);
    a("tuned", tuned);
    a("mean", mean);
    a("square", square);
  }
};

struct AdamOptions {
  double decay = 0.5, decay2 = 0.99, epsilon = 1e-12;
  double first = 3.0, later = 0.5, halfway = 100.0;  // steps in round t: × later + (first − later)/(1 + t/halfway)
};

class Hyperparameters {
 public:
  std::vector<Hyperparameter> list;
  AdamOptions adam;

  void put(Hyperparameter h) { list.push_back(h); }
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

  // Down the slopes, one for every entry of the list.
  void step(const std::vector<double>& slopes) {
    ++taken_;
    const double t = static_cast<double>(taken_);
    const double length = adam.later + (adam.first - adam.later) / (1 + t / adam.halfway);
    for (std::size_t i = 0; i < list.size(); ++i) {
      Hyperparameter& h = list[i];
      if (!h.tuned || !std::isfinite(slopes[i])) continue;
      h.mean = adam.decay * h.mean + (1 - adam.decay) * slopes[i];
      h.square = adam.decay2 * h.square + (1 - adam.decay2) * slopes[i] * slopes[i];
      const double mean = h.mean / (1 - std::pow(adam.decay, t)), square = h.square / (1 - std::pow(adam.decay2, t));
      h.place = std::clamp(h.place - length * h.step * mean / (std::sqrt(square) + adam.epsilon), h.low, h.high);
    }
  }

  // Of those that are tuned, in their order.
  void put_places(const std::vector<double>& places) {
    std::size_t next = 0;
    for (Hyperparameter& h : list)
      if (h.tuned && next < places.size()) h.place = places[next++];
  }

  // What is loaded must be like this list, except that more groups may have an L2 of their own.
  void fields(Archive& a) {
    const std::vector<Hyperparameter> made = list;
    a("taken", taken_);
    saved_list(a, "list", list, 1u << 16);
    if (a.loading() && !(taken_ >= 0 && taken_ < std::int64_t{1} << 53 && is_like(made)))
      throw DataError("saved state: the hyperparameters are not those that are tuned here");
  }

 private:
  [[nodiscard]] bool is_like(const std::vector<Hyperparameter>& made) const {
    std::int32_t groups = 0;
    for (std::size_t i = 0; i < std::max(list.size(), made.size()); ++i) {
      const Hyperparameter& h = i < list.size() ? list[i] : made[i];
      if (i < std::min(list.size(), made.size())) {
        if (h.kind != made[i].kind || h.index != made[i].index || h.tuned != made[i].tuned) return false;
      } else if (h.kind != Tunable::l2 || h.index != groups || !h.tuned) {
        return false;
      }
      if (!(h.low <= h.place && h.place <= h.high) || !std::isfinite(h.step)) return false;
      groups += h.kind == Tunable::l2 ? 1 : 0;
    }
    return true;
  }
  std::int64_t taken_ = 0;  // steps
};

}  // namespace obolus::fit
