#include "data/streams/text_row.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

namespace obolus {

std::string text_row(int label, std::string_view tag, std::span<const TextPart> parts, Encoding encoding) {
  std::vector<std::map<std::string, int>> counts(parts.size());
  double square = 0;
  const auto weight = [](int count) { return 1 + std::log(static_cast<double>(count)); };
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (std::string& word : words(parts[i].text, encoding)) ++counts[i][std::move(word)];
    for (const auto& [word, count] : counts[i]) square += weight(count) * weight(count);
  }
  std::string row = fmt::format("{} '{}", label, tag);
  const auto out = std::back_inserter(row);
  if (square == 0) row += '|';
  const char* gap = "";  // the first bar touches the tag
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (counts[i].empty()) continue;
    fmt::format_to(out, "{}|{}:{:.6g}", std::exchange(gap, " "), parts[i].name, 1 / std::sqrt(square));
    for (const auto& [word, count] : counts[i]) {
      fmt::format_to(out, " {}", word);
      if (count > 1) fmt::format_to(out, ":{:.4g}", weight(count));
    }
  }
  row += '\n';
  return row;
}

}  // namespace obolus
