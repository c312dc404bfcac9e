#include "trace/trace_reader.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "obolus/core/error.hpp"

namespace obolus {
namespace {

constexpr int max_depth = 64;
constexpr double max_round = 9e15;  // doubles are whole numbers up to here

}  // namespace

// Handles a line as it is parsed: long lists, such as x and y, are skipped without being stored.
class TraceReader::Parser final : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool parse(const std::string& line, TraceRow& row) {
    row_ = &row;
    row.numbers.clear();
    row.x.reset();
    row.alarm.clear();
    t_ = std::numeric_limits<double>::quiet_NaN();
    size_.reset();
    objects_ = 0;
    lists_ = 0;
    any_ = false;
    evaluation_ = false;
    if (!nlohmann::json::sax_parse(line, this) || !any_) return false;
    if (row.x) row.x->size = size_.value_or(static_cast<Index>(row.x->numbers.size()));
    return true;
  }
  // NaN if the line has none.
  [[nodiscard]] double t() const { return t_; }

  bool null() override { return !in_x(); }
  bool boolean(bool v) override { return !in_x() && number(v ? 1.0 : 0.0); }
  bool number_integer(number_integer_t v) override { return number(static_cast<double>(v)); }
  bool number_unsigned(number_unsigned_t v) override { return number(static_cast<double>(v)); }
  bool number_float(number_float_t v, const string_t&) override { return number(v); }
  bool string(string_t& v) override {
    if (objects_ == 1 && lists_ == 0 && key_ == "alarm") row_->alarm.swap(v);
    return !in_x();
  }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override {
    evaluation_ = objects_ == 1 && lists_ == 0 && key_ == "evaluation";
    return ++objects_ <= max_depth;
  }
  bool key(string_t& name) override {
    key_.swap(name);
    return true;
  }
  bool end_object() override {
    --objects_;
    evaluation_ = false;
    return true;
  }
  bool start_array(std::size_t) override {
    if (objects_ == 1 && lists_ == 0 && (key_ == "x_values" || key_ == "x_quantiles"))
      row_->x = {0, key_ == "x_quantiles", {}};
    return objects_ > 0 && ++lists_ <= max_depth;
  }
  bool end_array() override {
    --lists_;
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

 private:
  [[nodiscard]] bool in_x() const {
    return objects_ == 1 && lists_ == 1 && (key_ == "x_values" || key_ == "x_quantiles");
  }

  bool number(double value) {
    if (objects_ == 0) return false;
    if (in_x()) row_->x->numbers.push_back(value);
    if (lists_ > 0 || (objects_ > 1 && !(objects_ == 2 && evaluation_))) return true;
    if (objects_ == 1 && key_ == "evaluation") return false;  // an object is expected there
    any_ = true;
    if (objects_ == 1 && key_ == "t") t_ = value;
    else if (objects_ == 1 && key_ == "x_size") size_ = static_cast<Index>(value);
    else row_->numbers.push_back({std::move(key_), value, evaluation_});
    return true;
  }

  TraceRow* row_ = nullptr;
  std::string key_;
  double t_ = 0;
  std::optional<Index> size_;
  int objects_ = 0, lists_ = 0;  // how many are open
  bool any_ = false, evaluation_ = false;
};

TraceReader::TraceReader(const std::string& path) : lines_(path), parser_(std::make_unique<Parser>()) {}
TraceReader::~TraceReader() = default;

bool TraceReader::next(TraceRow& row) {
  if (!lines_.next(line_)) return false;
  if (!parser_->parse(line_, row)) {
    if (!lines_.ended()) return false;
    throw DataError(place() + ": is damaged: expected a JSON object with the numbers of a round");
  }
  const double t = parser_->t();
  if (!(t > static_cast<double>(last_) && t < max_round && t == std::floor(t)))
    throw DataError(fmt::format("{}: got t = {}, expected a whole number above {}", place(), t, last_));
  row.t = static_cast<Round>(t);
  last_ = row.t;
  return true;
}

}  // namespace obolus
