#include "config/section_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "config/toml.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus::config {
namespace {

[[noreturn]] void fail_at(const toml::node& node, const std::string& what, const std::string& got,
                          const std::string& expected) {
  throw ConfigError(fmt::format("{}: {}: got {}, expected {}", place_of(node), what, got, expected));
}

bool numeric(const toml::node& node) { return node.is_integer() || node.is_floating_point(); }

}  // namespace

std::string place_of(const toml::node& node) {
  const toml::source_region& where = node.source();
  const std::string file = where.path ? *where.path : std::string("config");
  return where.begin.line > 0 && !file.starts_with("--")
             ? fmt::format("{}:{}:{}", file, where.begin.line, where.begin.column)
             : file;
}

std::string text_of(const toml::node& node) {
  std::ostringstream s;
  node.visit([&](const auto& n) { s << n; });
  return s.str();
}

SectionReader::SectionReader(const toml::table& root, std::string section) : section_(std::move(section)) {
  const toml::node* node = root.get(section_);
  if (!node) return;
  table_ = node->as_table();
  if (!table_) fail_at(*node, section_, text_of(*node), "a section [" + section_ + "]");
}

void SectionReader::finish() const {
  if (!table_) return;
  for (const auto& [key, node] : *table_) {
    const std::string name(key.str());
    if (std::find(known_.begin(), known_.end(), name) != known_.end()) continue;
    throw ConfigError(
        fmt::format("{}: unknown key '{}' in [{}]{}", place_of(node), name, section_, suggestion(name, known_)));
  }
}

void SectionReader::reject(std::string_view name, const std::string& expected) const {
  const toml::node* node = find(name);
  if (!node) throw ConfigError(fmt::format("[{}] {}: not given, expected {}", section_, name, expected));
  fail(name, *node, expected);
}

void SectionReader::reject_both(std::string_view name, std::string_view of) const {
  reject(name, fmt::format("one of {} and {}: they are names of one option", of, name));
}

const toml::node* SectionReader::find(std::string_view name) const { return table_ ? table_->get(name) : nullptr; }

void SectionReader::fail(std::string_view name, const toml::node& node, const std::string& expected) const {
  fail_at(node, fmt::format("{}.{}", section_, name), text_of(node), expected);
}

bool SectionReader::truth(std::string_view name, const toml::node& node) const {
  if (const auto v = node.value_exact<bool>()) return *v;
  fail(name, node, "true or false");
}

std::string SectionReader::text(std::string_view name, const toml::node& node) const {
  if (const auto v = node.value_exact<std::string>()) return *v;
  fail(name, node, "text in quotes");
}

double SectionReader::number(std::string_view name, const toml::node& node, Range range) const {
  const double v = numeric(node) ? *node.value<double>() : 0.0;
  if (!numeric(node) || !range.holds(v) || !std::isfinite(v))
    fail(name, node, range.unrestricted() ? "a finite number" : "a finite number " + range.text());
  return v;
}

std::int64_t SectionReader::integer(std::string_view name, const toml::node& node, Range range) const {
  const auto v = node.value_exact<std::int64_t>();
  if (!v || !range.holds(static_cast<double>(*v)))
    fail(name, node, range.unrestricted() ? "a whole number" : "a whole number " + range.text());
  return *v;
}

Numbers SectionReader::numbers(std::string_view name, const toml::node& node, Range range) const {
  std::vector<double> values;
  const auto take = [&](const toml::node& n) {
    if (!numeric(n) || std::isnan(*n.value<double>()) || !range.holds(*n.value<double>()))
      fail(name, n, range.unrestricted() ? "a number or a list of numbers" : "finite numbers");
    values.push_back(*n.value<double>());
  };
  if (const toml::array* list = node.as_array()) {
    for (const toml::node& n : *list) take(n);
    if (values.empty()) fail(name, node, "at least one number");
    return Numbers(std::move(values));
  }
  take(node);
  return Numbers(values.front());
}

Schedule SectionReader::schedule(std::string_view name, const toml::node& node, Range range) const {
  const toml::table* table = node.as_table();
  if (!table) return Schedule(number(name, node, range));
  static const std::vector<std::string> keys{"scale",  "power",  "log",  "least",  "most",   "at",
                                             "values", "factor", "from", "warmup", "cosine", "floor"};
  Schedule s;
  s.scale = std::numeric_limits<double>::quiet_NaN();
  for (const auto& [key, value] : *table) {
    const std::string part = fmt::format("{}.{}", name, key.str());
    if (key == "scale") s.scale = number(part, value, Range::positive());
    else if (key == "power") s.power = number(part, value, {});
    else if (key == "log") s.log = truth(part, value);
    else if (key == "least") s.min = number(part, value, {});
    else if (key == "most") s.max = number(part, value, {});
    else if (key == "from") s.from = integer(part, value, Range::at_least(1));
    else if (key == "warmup") s.warmup = integer(part, value, Range::at_least(1));
    else if (key == "cosine") s.cosine = integer(part, value, Range::at_least(1));
    else if (key == "floor") s.floor = number(part, value, Range::between(0, 1));
    else if (std::find(keys.begin(), keys.end(), key.str()) == keys.end())
      throw ConfigError(fmt::format("{}: unknown key '{}' in {}.{}{}", place_of(value), key.str(), section_, name,
                                    suggestion(std::string(key.str()), keys)));
  }
  if (std::isnan(s.scale) || s.min > s.max)
    fail(name, node, "a number or { scale = …, power = …, log = …, least = …, most = …, … } with least ≤ most");
  if (s.floor > 0 && s.cosine == 0) fail(name, node, "a floor only with cosine = …");
  s.changes = scale_changes(name, node, s.scale);
  if (const std::string fault = shape_fault(s, range); !fault.empty())
    throw ConfigError(fmt::format("{}: {}.{}: got {}", place_of(node), section_, name, fault));
  return s;
}

// `at` with either `values`, the scale from each of these rounds on, or `factor`, which each of them multiplies it by.
ScaleChanges SectionReader::scale_changes(std::string_view name, const toml::node& node, double scale) const {
  const toml::table& table = *node.as_table();
  const toml::node *at = table.get("at"), *values = table.get("values"), *factor = table.get("factor");
  if (!at && !values && !factor) return {};
  if (!at || (values != nullptr) == (factor != nullptr))
    fail(name, node, "at = [rounds] with either values = [one for each] or factor = a number");
  const toml::array *rounds = at->as_array(), *given = values ? values->as_array() : nullptr;
  if (!rounds || rounds->empty() || rounds->size() > ScaleChanges::capacity)
    fail(fmt::format("{}.at", name), *at, fmt::format("a list of 1 to {} rounds", ScaleChanges::capacity));
  if (values && (!given || given->size() != rounds->size()))
    fail(fmt::format("{}.values", name), *values, fmt::format("a list of {}, one for each of at", rounds->size()));
  const double each = factor ? number(fmt::format("{}.factor", name), *factor, Range::positive()) : 1.0;
  ScaleChanges changes;
  for (std::size_t i = 0; i < rounds->size(); ++i) {
    scale = given ? number(fmt::format("{}.values", name), *given->get(i), Range::positive()) : scale * each;
    changes.add(integer(fmt::format("{}.at", name), *rounds->get(i), Range::at_least(1)), scale);
  }
  return changes;
}

std::size_t SectionReader::choice(std::string_view name, const toml::node& node,
                                  const std::vector<std::string>& words) const {
  const auto given = node.value_exact<std::string>();
  const auto found = given ? std::find(words.begin(), words.end(), *given) : words.end();
  if (found != words.end()) return to_size(found - words.begin());
  fail(name, node, fmt::format("{}{}", fmt::join(words, " | "), given ? suggestion(*given, words) : std::string()));
}

}  // namespace obolus::config
