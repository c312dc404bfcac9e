// Rows as a learner keeps them: features by slot, the label as a number.
#pragma once

#include <cstdint>
#include <vector>

#include "fit/model/saved_vectors.hpp"
#include "kernels/fit/kernels.hpp"
#include "obolus/core/archive.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus::fit {

using Entry = kernels::fit::Entry;

// The outer rows of a round judge the hyperparameters, the inner ones train the weights; most rows do first the one,
// then the other.
enum class Role : std::uint8_t { both, outer, inner };

struct LearnerRow {
  std::vector<Entry> entries;            // by group, when there are several
  std::vector<std::int32_t> group_ends;  // where each group's entries end; groups beyond have none. Empty: one group
  std::int32_t label = 0;                // class
  float target = 0;                      // number
  float weight = 1;
  Role role = Role::both;

  [[nodiscard]] bool serves(Role wanted) const { return role == Role::both || role == wanted; }
  [[nodiscard]] std::int64_t first(int g) const { return g == 0 ? 0 : last(g - 1); }
  [[nodiscard]] std::int64_t last(int g) const {
    const auto i = to_size(g);
    return i < group_ends.size() ? group_ends[i] : static_cast<std::int64_t>(entries.size());
  }
  void fields(Archive& a) {
    saved(a, "entries", entries);
    saved(a, "group_ends", group_ends);
    a("label", label);
    a("target", target);
    a("weight", weight);
    a("role", role);
  }
};

using RowPointers = std::vector<const LearnerRow*>;

}  // namespace obolus::fit
