// From a JSON file to the numbers of its rounds as written. quadratic_file.cpp checks that they fit together and
// interprets them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace obolus::quadratic_json {

inline constexpr double max_dimension = 10'000;
inline constexpr std::size_t max_rounds = 1'000'000;
// In memory, once every shorthand is written out: 2 GB, and as much again for the oracle's working copy. One round of
// the largest dimensions fits.
inline constexpr std::size_t max_numbers = 250'000'000;

inline constexpr std::array<std::string_view, 8> round_keys{"A", "B", "b", "w", "c", "s", "r", "e"};
enum RoundKey : std::size_t { key_A, key_B, key_b, key_w, key_c, key_s, key_r, key_e };
inline constexpr std::string_view round_keys_text = "A, B, b, w, c, s, r, e";

// A value as written: one number, a list of numbers, or a list of rows.
struct Entry {
  enum class Form : std::uint8_t { missing, number, list, rows } form = Form::missing;
  std::vector<double> numbers;
  std::vector<std::size_t> row_ends;  // in `numbers`
};
using RawRound = std::array<Entry, round_keys.size()>;

struct RawStream {
  bool has_dims = false, has_rounds = false;
  std::optional<double> dim_x, dim_y;
  std::vector<RawRound> rounds;
};

struct Place {
  std::string file;
  bool in_dims = false;
  std::size_t round = 0;  // from 1; 0: in none
  std::string_view key = {};
  std::size_t row = 0;  // from 1; 0: in none

  [[nodiscard]] std::string text() const;
  [[noreturn]] void refuse(std::string_view why) const;
  [[noreturn]] void refuse(std::string_view got, std::string_view expected) const;
};

// Reads to the end of the document; throws DataError with the place of the first thing that does not belong.
[[nodiscard]] RawStream read_raw(std::istream& in, const std::string& path);

}  // namespace obolus::quadratic_json
