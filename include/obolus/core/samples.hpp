// When a stochastic method draws: once a round, or anew for every step.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "obolus/core/options.hpp"

namespace obolus {

enum class Samples : std::uint8_t { round, fresh };
template <>
struct EnumNames<Samples> {
  static constexpr std::array<std::pair<Samples, std::string_view>, 2> values{
      {{Samples::round, "round"}, {Samples::fresh, "fresh"}}};
};

}  // namespace obolus
