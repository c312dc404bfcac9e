// The trace of a run.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "data/durable_file.hpp"
#include "obolus/core/error.hpp"
#include "report/config_facts.hpp"
#include "report/line_reader.hpp"
#include "report/series.hpp"

namespace obolus {
namespace {

constexpr double absent = std::numeric_limits<double>::quiet_NaN();

// The numbers of a line, those of its `evaluation` among them. Lists (x and y) pass without being kept.
class Row final : public nlohmann::json_sax<nlohmann::json> {
 public:
  struct Number {
    std::string name;
    bool evaluation = false;
    double value = 0;
  };

  bool parse(const std::string& line) {
    count_ = 0, depth_ = lists_ = 0, evaluation_ = false;
    return nlohmann::json::sax_parse(line, this) && objects_only();
  }
  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] const Number& operator[](std::size_t i) const { return numbers_[i]; }
  [[nodiscard]] double find(std::string_view name) const {
    for (std::size_t i = 0; i < count_; ++i)
      if (numbers_[i].name == name && !numbers_[i].evaluation) return numbers_[i].value;
    return absent;
  }

  bool null() override { return true; }
  bool boolean(bool v) override { return number(v ? 1.0 : 0.0); }
  bool number_integer(number_integer_t v) override { return number(static_cast<double>(v)); }
  bool number_unsigned(number_unsigned_t v) override { return number(static_cast<double>(v)); }
  bool number_float(number_float_t v, const string_t&) override { return number(v); }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override {
    evaluation_ = depth_ == 1 && lists_ == 0 && key_ == "evaluation";
    return ++depth_ <= 64;
  }
  bool key(string_t& name) override {
    key_.swap(name);
    return true;
  }
  bool end_object() override {
    --depth_, evaluation_ = false;
    return true;
  }
  bool start_array(std::size_t) override { return depth_ > 0 && ++lists_ <= 64; }
  bool end_array() override {
    --lists_;
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

 private:
  [[nodiscard]] bool objects_only() const { return depth_ == 0 && count_ > 0; }
  bool number(double value) {
    if (depth_ == 0) return false;
    if (lists_ > 0 || (depth_ > 1 && !(depth_ == 2 && evaluation_))) return true;
    if (count_ == numbers_.size()) numbers_.emplace_back();
    Number& n = numbers_[count_++];
    n.name.swap(key_);
    n.evaluation = evaluation_, n.value = value;
    return true;
  }

  std::vector<Number> numbers_;  // kept between lines: no allocation in the common case
  std::size_t count_ = 0;
  std::string key_;
  int depth_ = 0, lists_ = 0;
  bool evaluation_ = false;
};

void add_row(const Row& row, Columns& columns) {
  Point p;
  p.t = static_cast<Round>(row.find("t"));
  p.seconds = row.find("seconds");
  p.gradients =
      row.find("grad_f") + row.find("grad_g") + 2 * (row.find("hvp") + row.find("cross")) + 0.5 * row.find("values");
  const auto add = [&](std::string_view name, bool evaluation, double value) {
    p.value = value;
    columns.add(name, evaluation, p);
  };
  for (std::size_t i = 0; i < row.size(); ++i)
    if (row[i].name != "t" && row[i].name != "x_size") add(row[i].name, row[i].evaluation, row[i].value);
  if (std::isfinite(p.gradients)) add("gradients", false, p.gradients);
}

void read_trace(const std::string& path, Columns& columns) {
  LineReader lines(path);
  std::string line;
  Row row;
  for (double before = 0; lines.next(line);) {
    if (!row.parse(line)) {
      if (!lines.ended()) return;  // the run was killed while it wrote, or is writing
      throw DataError(lines.place() + ": is damaged: not a JSON object of numbers, as a round of a run is");
    }
    const double t = row.find("t");
    if (!(t > before && t < 9e15 && t == std::floor(t)))
      throw DataError(fmt::format("{}: got t = {}, expected a whole number above {}", lines.place(), t, before));
    before = t;
    try {
      add_row(row, columns);
    } catch (const DataError& e) {
      throw DataError(fmt::format("{}: {}", lines.place(), e.what()));
    }
  }
}

// Who ran on what, and what runs of other seeds share with it.
Series identity(const std::string& folder) {
  const std::string name = std::filesystem::canonical(folder).filename().string();
  Series s{folder, "", name, "", 0, false, "folder " + folder, {}};
  const std::string path = folder + "/config.toml";
  if (!std::filesystem::exists(path)) return s;
  const ConfigFacts facts = facts_of_run(read_whole_file(path, 1 << 24));
  if (!facts.problem.empty()) s.stream = facts.problem;
  if (!facts.optimiser.empty()) s.label = facts.optimiser;
  s.seed = facts.seed;
  if (facts.values.empty()) return s;
  s.kin.clear();
  for (const auto& [key, value] : facts.values) s.kin += key + " = " + value + "\n";
  return s;
}

}  // namespace

void read_run(const std::string& folder, const Selection& selection, Holdings& into) {
  Series series = identity(folder);
  into.note_stream(series.stream);
  if (!selection.stream.empty() && selection.stream != series.stream) return;
  Columns columns(selection);
  read_trace(folder + "/trace.jsonl", columns);
  series.take(columns);
  into.offer(columns);
  into.series.push_back(std::move(series));
}

}  // namespace obolus
