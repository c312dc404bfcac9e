// svmlight and libsvm: LABEL INDEX:VALUE … # comment
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "data/rows/line_rows.hpp"
#include "data/rows/number_text.hpp"
#include "data/rows/short_decimal.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus {
namespace {

class SvmlightRows : public LineRows {
 public:
  SvmlightRows(std::unique_ptr<LineSource> lines, const RowOptions& options)
      : LineRows(std::move(lines), options),
        labelled_(options.labelled),
        automatic_(options.index_base == IndexBase::automatic),
        base_(options.index_base == IndexBase::one ? 1 : 0) {
    groups_.emplace_back();
    if (automatic_) decide_base(options);
  }

  [[nodiscard]] std::string describe() const override;
  [[nodiscard]] std::optional<int> index_base() const override { return base_; }
  [[nodiscard]] bool decided() const override { return !automatic_ || looked_at_ > 0; }

 private:
  [[nodiscard]] bool read(DataRow& row) override;
  void take_over(LineRows& before) override;
  void decide_base(const RowOptions& options);
  [[nodiscard]] std::string indices_from_one() const;
  void read_label(Words& words, Word& word, DataRow& row, bool& more);
  [[nodiscard]] bool read_short(const char*& at, const char* end, RowFeature& feature) const;
  [[nodiscard]] RowFeature feature(Word word) const;
  void refuse_duplicates(Word text, const DataRow& row);

  bool labelled_, automatic_, has_qid_ = false;
  int base_;
  std::size_t looked_at_ = 0;
  std::string decided_by_;                                     // the file before, if it decided
  std::vector<std::pair<std::uint64_t, std::size_t>> sorted_;  // keys, with their positions in the row
};

// Base 0 accepts every index, so the rows can be read with it while the base is not known.
void SvmlightRows::decide_base(const RowOptions& options) {
  lines().hold();
  DataRow row;
  bool zero = false, more = true;
  while (more && !zero && looked_at_ < options.look_ahead && lines().held() < options.look_ahead_bytes) try {
      row.features.clear();
      more = read(row);
      looked_at_ += more ? 1 : 0;
      zero = std::any_of(row.features.begin(), row.features.end(), [](const RowFeature& f) { return f.key == 0; });
    } catch (const BadRow&) {  // NOLINT(bugprone-empty-catch): it will be read again, and counted then
    }
  lines().rewind();
  line_ = 0;
  base_ = zero ? 0 : 1;
}

// If each of several files decided for itself, the same index could mean two features.
void SvmlightRows::take_over(LineRows& before) {
  const auto& first = static_cast<const SvmlightRows&>(before);
  has_qid_ = has_qid_ || first.has_qid_;
  if (!first.automatic_ || !first.decided()) return;
  automatic_ = true;
  base_ = first.base_;
  looked_at_ = first.looked_at_;
  decided_by_ = first.decided_by_.empty() ? first.file() : first.decided_by_;
}

std::string SvmlightRows::indices_from_one() const {
  if (!automatic_) return "indices from 1, as the index base says; if the file counts from zero, set it to zero";
  const bool here = decided_by_.empty();
  return fmt::format(
      "indices from 1: the first {} rows{} had no index 0, so the file{} taken to count from one; if {} from zero, set "
      "the index base to zero",
      looked_at_, here ? "" : " of " + decided_by_, here ? " was" : "s were", here ? "it counts" : "they count");
}

bool SvmlightRows::read(DataRow& row) {
  std::string_view line;
  do {
    if (!next_line(line)) return false;
    line = line.substr(0, line.find('#'));
  } while (trimmed(line).empty());
  Words words({line});
  Word word;
  bool more = words.next(word), ascending = true;
  read_label(words, word, row, more);
  if (!more) return true;
  const Word features = Word{line}.from(word.column - 1);
  const char *at = features.text.data(), *end = at + features.text.size();
  for (std::uint64_t last = 0; at < end; at = past_blanks(at, end)) {
    RowFeature read;
    if (const char* begin = at; !read_short(at, end, read)) {
      (void)Words(Word{line}.from(to_size(begin - line.data()))).next(word);
      read = feature(word);
      at = begin + word.text.size();
    }
    ascending = ascending && (row.features.empty() || last < read.key);
    last = read.key;
    row.features.push_back(read);
  }
  if (!ascending) refuse_duplicates(features, row);
  return true;
}

void SvmlightRows::read_label(Words& words, Word& word, DataRow& row, bool& more) {
  if (word.text.find(':') == std::string_view::npos) {
    if (word.text.find(',') != std::string_view::npos)
      refuse(word.column, "several labels, " + shown(word.text), "one label: multi-label rows are not supported");
    if (number_of(word.text).fault != NumberFault::none) refuse(word.column, shown(word.text), "a number as the label");
    row.label = word.text;
    more = words.next(word);
  } else if (labelled_) {
    refuse(word.column, shown(word.text), "a label first");
  }
  if (more && word.text.starts_with("qid:")) {
    has_qid_ = true;
    more = words.next(word);
  }
}

// The common case: an index of up to 19 digits and a short decimal. False for anything else, errors included.
bool SvmlightRows::read_short(const char*& at, const char* end, RowFeature& feature) const {
  const DigitRun index = digits_of(at, end);
  at += index.count;
  if (index.count == 0 || index.count > max_digits || at == end || *at != ':' || (index.value == 0 && base_ == 1))
    return false;
  ++at;
  double value = 0;
  if (!read_short_decimal(at, end, value) || (at < end && !is_blank(*at))) return false;
  feature = {0, index.value, static_cast<float>(value)};
  return true;
}

RowFeature SvmlightRows::feature(Word word) const {
  const std::size_t colon = word.text.find(':');
  if (colon == std::string_view::npos) refuse(word.column, shown(word.text), "INDEX:VALUE");
  RowFeature feature;
  const char *first = word.text.data(), *last = first + colon;
  const auto [end, error] = std::from_chars(first, last, feature.key);
  if (error != std::errc{} || end != last)
    refuse(word.column, "index " + shown(word.text.substr(0, colon)), "a whole number, 0 to 2^64 - 1");
  if (feature.key == 0 && base_ == 1) refuse(word.column, "index 0", indices_from_one());
  feature.value = value_of(word.from(colon + 1));
  return feature;
}

void SvmlightRows::refuse_duplicates(Word text, const DataRow& row) {
  sorted_.clear();
  for (const RowFeature& f : row.features) sorted_.emplace_back(f.key, sorted_.size());
  std::sort(sorted_.begin(), sorted_.end());
  const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
  const auto twice = std::adjacent_find(sorted_.begin(), sorted_.end(), same);
  if (twice == sorted_.end()) return;
  const auto column = [&](std::size_t which) {
    Words words(text);
    Word word;
    for (std::size_t i = 0; i <= which; ++i) (void)words.next(word);
    return word.column;
  };
  refuse(column((twice + 1)->second),
         fmt::format("index {} again (first in column {})", twice->first, column(twice->second)),
         "each index once per row");
}

std::string SvmlightRows::describe() const {
  std::string why = "as given";
  if (automatic_)
    why = fmt::format("{} {}{}", base_ == 0 ? "index 0 stands in row" : "no index 0 in the first", looked_at_,
                      base_ == 0 ? "" : " rows") +
          (decided_by_.empty() ? "" : " of " + decided_by_);
  return fmt::format("svmlight, indices from {} ({}){}", base_ == 0 ? "zero" : "one", why,
                     has_qid_ ? "; qid is ignored" : "");
}

bool is_number(std::string_view text) { return number_of(text).fault == NumberFault::none; }

bool is_entry(std::string_view text) {
  const std::size_t colon = text.find(':');
  return colon != std::string_view::npos && is_number(text.substr(0, colon));
}

// A comment, or INDEX:VALUE or qid: in the first two words.
bool begins_svmlight(std::string_view line) {
  if (trimmed(line).starts_with('#')) return true;
  Words words({line});
  Word first, second;
  if (!words.next(first)) return false;
  if (is_entry(first.text)) return true;
  return words.next(second) && (is_entry(second.text) || second.text.starts_with("qid:")) &&
         is_number(first.text.substr(0, first.text.find(',')));
}

}  // namespace

RowFormat svmlight_format() {
  return {.name = "svmlight",
          .title = "svmlight",
          .summary = "LABEL INDEX:VALUE … # comment; also called libsvm",
          .endings = {".svm", ".svmlight", ".libsvm"},
          .options = {"index_base"},
          .recognises = begins_svmlight,
          .open = open_as<SvmlightRows>};
}

}  // namespace obolus
