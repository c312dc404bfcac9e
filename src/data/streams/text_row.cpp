#include "data/streams/text_row.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "data/append_format.hpp"

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
  if (square == 0) row += '|';
  const char* gap = "";  // the first bar touches the tag
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (counts[i].empty()) continue;
    append_format(row, "{}|{}:{:.6g}", std::exchange(gap, " "), parts[i].name, 1 / std::sqrt(square));
    for (const auto& [word, count] : counts[i]) {
      append_format(row, " {}", word);
      if (count > 1) append_format(row, ":{:.4g}", weight(count));
    }
  }
  row += '\n';
  return row;
}

}  // namespace obolus
