// Which values an optimiser's options start from.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "obolus/core/options.hpp"

namespace obolus {

enum class Preset : std::uint8_t {
  standard,   // the defaults of the options structs
  paper,      // the values of the paper's appendix "Experimental Details"
  theory,     // everything from the problem's constants and the horizon, within the theorem's conditions
  anytime,    // as theory, with tolerances and steps that follow the round: needs no horizon
  orders,     // the inner counts behind the orders that the paper's Tables 1 and 2 quote for other methods
  authors,    // what a method's authors' code does where their paper says otherwise
  practical,  // what worked in trials: see theory::set_practical in optimisers/presets.hpp
};
template <>
struct EnumNames<Preset> {
  static constexpr std::array<std::pair<Preset, std::string_view>, 7> values{{{Preset::standard, "default"},
                                                                              {Preset::paper, "paper"},
                                                                              {Preset::theory, "theory"},
                                                                              {Preset::anytime, "anytime"},
                                                                              {Preset::orders, "orders"},
                                                                              {Preset::authors, "authors"},
                                                                              {Preset::practical, "practical"}}};
};

}  // namespace obolus
