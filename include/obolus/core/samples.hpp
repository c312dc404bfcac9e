// When a stochastic method draws: once per round, for every step, or never.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "obolus/core/options.hpp"

namespace obolus {

enum class Samples : std::uint8_t {
  round,  // one batch per round, reused
  fresh,  // new draws for every step
  given,  // the functions as revealed, no draws: the round is a batch already
};
template <>
struct EnumNames<Samples> {
  static constexpr std::array<std::pair<Samples, std::string_view>, 3> values{
      {{Samples::round, "round"}, {Samples::fresh, "fresh"}, {Samples::given, "given"}}};
};

// The same for methods that need one sample at two points, which rules out fresh draws.
enum class RoundSamples : std::uint8_t { round, given };
template <>
struct EnumNames<RoundSamples> {
  static constexpr std::array<std::pair<RoundSamples, std::string_view>, 2> values{
      {{RoundSamples::round, "round"}, {RoundSamples::given, "given"}}};
};

[[nodiscard]] constexpr bool draws_any(Samples samples) { return samples != Samples::given; }
[[nodiscard]] constexpr bool draws_any(RoundSamples samples) { return samples != RoundSamples::given; }

}  // namespace obolus
