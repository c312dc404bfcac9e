#include "problems/quadratic_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <istream>
#include <nlohmann/json.hpp>
#include <utility>

#include "obolus/core/error.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus::quadratic_json {

std::string Place::text() const {
  std::string s;
  if (in_dims) s += ", dims";
  if (round > 0) s += fmt::format(", round {}", round);
  if (!key.empty()) s += fmt::format(", key '{}'", key);
  if (row > 0) s += fmt::format(", row {}", row);
  return s.empty() ? file : file + ":" + s.substr(1);
}
void Place::refuse(std::string_view why) const { throw DataError(fmt::format("{}: {}", text(), why)); }
void Place::refuse(std::string_view got, std::string_view expected) const {
  throw DataError(fmt::format("{}: got {}, expected {}", text(), got, expected));
}

namespace {

std::string shortened(const std::string& text) { return text.size() <= 40 ? text : text.substr(0, 37) + "..."; }

// Receives the parser's events. The deepest legal nesting is document, rounds, round, matrix, row; whatever does not
// belong is refused where it begins, so neither the depth nor the length of a bad file costs stack or memory.
class StreamReader {
  using Json = nlohmann::json;

 public:
  explicit StreamReader(const std::string& path) { place_.file = path; }
  [[nodiscard]] RawStream take() { return std::move(stream_); }

  bool null() { return unexpected("null"); }
  bool boolean(bool value) { return unexpected(value ? "true" : "false"); }
  bool string(std::string& value) { return unexpected(fmt::format("the string \"{}\"", shortened(value))); }
  bool binary(Json::binary_t&) { return unexpected("binary data"); }
  bool number_integer(std::int64_t value) { return number(static_cast<double>(value)); }
  bool number_unsigned(std::uint64_t value) { return number(static_cast<double>(value)); }
  bool number_float(double value, const std::string&) { return number(value); }

  bool start_object(std::size_t) {
    switch (level_) {
      case Level::start: return enter(Level::document);
      case Level::dims_value:
        place_.in_dims = true;
        place_.key = {};
        return enter(Level::dims);
      case Level::rounds: return begin_round();
      default: return unexpected("an object");
    }
  }

  bool key(std::string& name) {
    place_.key = {};
    switch (level_) {
      case Level::document: return document_key(name);
      case Level::dims: return dims_key(name);
      default: return round_key(name);
    }
  }

  bool end_object() {
    place_.key = {};
    if (level_ == Level::round) return end_round();
    place_.in_dims = false;
    return enter(level_ == Level::dims ? Level::document : Level::end);
  }

  bool start_array(std::size_t) {
    count();
    switch (level_) {
      case Level::rounds_value: place_.key = {}; return enter(Level::rounds);
      case Level::value: entry_->form = Entry::Form::list; return enter(Level::list);
      case Level::list:
        if (entry_->form == Entry::Form::list && !entry_->numbers.empty()) break;
        entry_->form = Entry::Form::rows;
        place_.row = entry_->row_ends.size() + 1;
        return enter(Level::row);
      default: break;
    }
    return unexpected("a list");
  }

  bool end_array() {
    place_.row = 0;
    if (level_ == Level::rounds) return enter(Level::document);
    if (level_ == Level::list) return enter(Level::round);
    entry_->row_ends.push_back(entry_->numbers.size());
    return enter(Level::list);
  }

  bool parse_error(std::size_t, const std::string& token, const Json::exception& e) {
    constexpr int number_overflow = 406;
    if (e.id == number_overflow) return unexpected(shortened(token) + ", too large for a double");
    const std::string_view message = e.what();  // "[json.exception.…] parse error at line 3, column 5: …"
    const std::size_t tag = message.find("] ");
    place_.refuse(fmt::format("broken JSON: {}", message.substr(tag == message.npos ? 0 : tag + 2)));
  }

 private:
  // What has been entered, or (…_value) which key's value comes next.
  enum class Level : std::uint8_t {
    start,
    document,
    dims_value,
    dims,
    dim_value,
    rounds_value,
    rounds,
    round,
    value,
    list,
    row,
    end
  };

  bool enter(Level level) {
    level_ = level;
    return true;
  }

  bool number(double value) {
    count();
    switch (level_) {
      case Level::dim_value: (place_.key == "x" ? stream_.dim_x : stream_.dim_y) = value; return enter(Level::dims);
      case Level::value:
        entry_->form = Entry::Form::number;
        append(value);
        return enter(Level::round);
      case Level::row: return append(value);
      case Level::list:
        if (entry_->form == Entry::Form::list) return append(value);
        break;
      default: break;
    }
    return unexpected(fmt::format("the number {}", value));
  }
  bool append(double value) {
    entry_->numbers.push_back(value);
    return true;
  }

  bool begin_round() {
    place_.round = stream_.rounds.size() + 1;
    if (place_.round > max_rounds) place_.refuse(fmt::format("expected at most {} rounds", max_rounds));
    stream_.rounds.emplace_back();
    return enter(Level::round);
  }
  bool end_round() {
    const RawRound& round = stream_.rounds.back();
    for (std::size_t k = 0; k < round.size(); ++k) {
      place_.key = round_keys[k];
      if (round[k].form == Entry::Form::missing) place_.refuse("missing");
    }
    place_.key = {};
    place_.round = 0;
    return enter(Level::rounds);
  }
  bool document_key(const std::string& name) {
    if (name == "dims") return value_of("dims", std::exchange(stream_.has_dims, true), Level::dims_value);
    if (name == "rounds") return value_of("rounds", std::exchange(stream_.has_rounds, true), Level::rounds_value);
    return unknown_key(name, "dims, rounds");
  }
  bool dims_key(const std::string& name) {
    if (name == "x") return value_of("x", stream_.dim_x.has_value(), Level::dim_value);
    if (name == "y") return value_of("y", stream_.dim_y.has_value(), Level::dim_value);
    return unknown_key(name, "x, y");
  }
  bool round_key(const std::string& name) {
    const auto found = std::find(round_keys.begin(), round_keys.end(), name);
    if (found == round_keys.end()) return unknown_key(name, round_keys_text);
    entry_ = &stream_.rounds.back()[to_size(found - round_keys.begin())];
    return value_of(*found, entry_->form != Entry::Form::missing, Level::value);
  }
  bool value_of(std::string_view name, bool seen, Level level) {
    place_.key = name;
    if (seen) place_.refuse("given twice, expected once");
    return enter(level);
  }
  bool unknown_key(const std::string& name, std::string_view valid) {
    place_.refuse(fmt::format("unknown key '{}', expected one of {}", shortened(name), valid));
  }

  void count() {
    if (++count_ > max_numbers) place_.refuse(fmt::format("expected at most {} numbers in the file", max_numbers));
  }

  bool unexpected(std::string_view got) {
    if (level_ == Level::rounds) place_.round = stream_.rounds.size() + 1;
    place_.refuse(got, expected());
  }
  [[nodiscard]] std::string expected() const {
    switch (level_) {
      case Level::start: return "an object with the keys dims and rounds";
      case Level::dims_value: return "an object with the keys x and y";
      case Level::dim_value: return fmt::format("a whole number from 1 to {}", max_dimension);
      case Level::rounds_value: return "a list of rounds";
      case Level::rounds: return fmt::format("an object with the keys {}", round_keys_text);
      case Level::value:
        if (place_.key == "A" || place_.key == "B") return "a list of rows or a finite number";
        return place_.key == "w" || place_.key == "s" || place_.key == "r" ? "a finite number"
                                                                           : "a list of numbers or a finite number";
      case Level::list: return entry_->form == Entry::Form::rows ? "a list of numbers" : "a finite number";
      default: return "a finite number";
    }
  }

  Place place_;
  RawStream stream_;
  Entry* entry_ = nullptr;
  Level level_ = Level::start;
  std::size_t count_ = 0;
};

}  // namespace

RawStream read_raw(std::istream& in, const std::string& path) {
  StreamReader reader(path);
  nlohmann::json::sax_parse(in, &reader);
  return reader.take();
}

}  // namespace obolus::quadratic_json
