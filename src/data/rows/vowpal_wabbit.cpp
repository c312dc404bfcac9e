// Vowpal Wabbit's text: [LABEL] [WEIGHT] ['TAG]|NAMESPACE[:SCALE] FEATURE[:VALUE] … |NAMESPACE …
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <functional>
#include <unordered_map>

#include "data/rows/line_rows.hpp"
#include "data/rows/number_text.hpp"
#include "data/rows/row_hash.hpp"
#include "data/rows/short_decimal.hpp"
#include "data/rows/text_hash.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus {
namespace {

constexpr std::size_t max_namespaces = 65'536;  // each is kept, and a stream must not fill the memory with them

class VowpalWabbitRows : public LineRows {
 public:
  using LineRows::LineRows;
  [[nodiscard]] std::string describe() const override {
    return "Vowpal Wabbit's text; features are hashed by Obolus' own hash";
  }

 private:
  struct Namespace {
    std::uint32_t group = 0;
    std::uint64_t seed = 0;
  };

  [[nodiscard]] bool read(DataRow& row) override;
  void take_over(LineRows& before) override {
    auto& first = static_cast<VowpalWabbitRows&>(before);
    groups_ = std::move(first.groups_);
    known_ = std::move(first.known_);
  }
  void read_head(Word head, DataRow& row) const;
  void read_tag(Word word, std::size_t words_before, DataRow& row) const;
  void read_namespace(Word text, DataRow& row);
  [[nodiscard]] float read_value(Word rest, const char*& at) const;
  [[nodiscard]] Namespace known(Word name);

  std::unordered_map<std::string, Namespace, TextHash, std::equal_to<>> known_;
};

bool VowpalWabbitRows::read(DataRow& row) {
  std::string_view line;
  do {
    if (!next_line(line)) return false;
  } while (trimmed(line).empty());
  std::size_t bar = line.find('|');
  if (bar == std::string_view::npos) refuse(line.size() + 1, "the end of the line", "| and features");
  read_head({line.substr(0, bar)}, row);
  while (bar != std::string_view::npos) {
    const std::size_t end = line.find('|', bar + 1);
    read_namespace({line.substr(bar + 1, end == std::string_view::npos ? end : end - bar - 1), bar + 2}, row);
    bar = end;
  }
  return true;
}

// As in Vowpal Wabbit, the last word is the tag if it has an apostrophe or touches the bar.
void VowpalWabbitRows::read_head(Word head, DataRow& row) const {
  Words words(head);
  std::array<Word, 2> numbers;  // the label and the weight
  std::size_t count = 0;
  for (Word word; words.next(word);) {
    const bool touches = word.column + word.text.size() == head.text.size() + 1;
    if (touches || word.text.front() == '\'') {
      read_tag(word, count, row);
      if (Word more; words.next(more)) refuse(more.column, shown(more.text), "| after the tag");
      break;
    }
    if (count == 2) refuse(word.column, shown(word.text), "a tag or |: an initial prediction (base) is not supported");
    numbers[count++] = word;
  }
  if (count == 0) return;
  const std::string_view label = numbers[0].text;
  if (label.find(':') != std::string_view::npos)
    refuse(numbers[0].column, shown(label), "a plain label: costs and probabilities by label are not supported");
  if (label == "shared")
    refuse(numbers[0].column, shown(label), "a plain label: multi-line examples are not supported");
  if (label.find(',') != std::string_view::npos)
    refuse(numbers[0].column, shown(label), "one label: multi-label rows are not supported");
  row.label = label;
  if (count == 2) row.weight = weight_of(numbers[1]);
}

void VowpalWabbitRows::read_tag(Word word, std::size_t words_before, DataRow& row) const {
  const bool quoted = word.text.front() == '\'';
  if (!quoted && words_before < 2 && number_of(word.text).fault == NumberFault::none)
    refuse(word.column, shown(word.text) + " right before |, which makes it a tag",
           "a blank before | if it is the label or the weight, an apostrophe if it is a tag");
  row.tag = word.text.substr(quoted ? 1 : 0);
}

void VowpalWabbitRows::read_namespace(Word text, DataRow& row) {
  Words words(text);
  Word name{{}, text.column};
  float scale = 1;
  if (!text.text.empty() && !is_blank(text.text.front()) && words.next(name)) {
    const std::size_t colon = name.text.find(':');
    if (colon != std::string_view::npos) scale = value_of(name.from(colon + 1));
    name.text = name.text.substr(0, colon);
  }
  const Namespace here = known(name);
  const Word features = words.rest();
  const char *first = features.text.data(), *end = first + features.text.size();
  for (const char* at = past_blanks(first, end); at < end; at = past_blanks(at, end)) {
    const char* begin = at;
    at = find_byte(at, end, ' ', '\t', ':');
    const std::string_view feature(begin, to_size(at - begin));
    const bool valued = at < end && *at == ':';
    const float value = valued ? scale * read_value(features.from(to_size(begin - first)), at) : scale;
    if (valued && !std::isfinite(value))
      refuse(features.column + to_size(begin - first), shown({begin, to_size(at - begin)}) + " times its scale",
             "a value up to 3.4e38");
    row.features.push_back({here.group, row_hash(feature, here.seed), value});
  }
}

// The value of the feature at the start of `rest`; moves `at` from its colon to the blank after it.
float VowpalWabbitRows::read_value(Word rest, const char*& at) const {
  const char *colon = at, *end = rest.text.data() + rest.text.size();
  if (colon > rest.text.data()) {
    ++at;
    double value = 0;
    if (read_short_decimal(at, end, value) && (at == end || is_blank(*at))) return static_cast<float>(value);
  }
  Word word;
  (void)Words(rest).next(word);
  if (colon == word.text.data()) refuse(word.column, shown(word.text), "a feature's name before the colon");
  at = word.text.data() + word.text.size();
  return value_of(word.from(to_size(colon - word.text.data()) + 1));
}

VowpalWabbitRows::Namespace VowpalWabbitRows::known(Word name) {
  if (const auto found = known_.find(name.text); found != known_.end()) return found->second;
  if (groups_.size() == max_namespaces)
    refuse(name.column, "one more namespace, " + shown(name.text), fmt::format("at most {}", max_namespaces));
  const Namespace added{static_cast<std::uint32_t>(groups_.size()), group_seed(name.text)};
  groups_.emplace_back(name.text);
  known_.emplace(name.text, added);
  return added;
}

// Its bar begins the line or follows a blank or a tag; as a delimiter of CSV it follows its cell.
bool has_bar(std::string_view line) {
  const std::string_view text = trimmed(line);
  const std::size_t bar = text.find('|');
  return !text.starts_with('#') && bar != std::string_view::npos &&
         (bar == 0 || is_blank(text[bar - 1]) || text.substr(0, bar).find('\'') != std::string_view::npos);
}

}  // namespace

RowFormat vowpal_wabbit_format() {
  return {.name = "vw",
          .title = "Vowpal Wabbit",
          .summary = "[LABEL] [WEIGHT] ['TAG]|NAMESPACE[:SCALE] FEATURE[:VALUE] … |NAMESPACE …",
          .endings = {".vw"},
          .options = {},
          .recognises = has_bar,
          .open = open_as<VowpalWabbitRows>};
}

}  // namespace obolus
