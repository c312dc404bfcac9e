#include "data/rows/json_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "data/rows/line_source.hpp"
#include "obolus/core/error.hpp"

namespace obolus {

std::uint32_t JsonNames::add(std::string_view name, std::uint32_t parent, std::size_t tail) {
  const auto index = static_cast<std::uint32_t>(names_.size());
  const auto added = by_text_.emplace(name, index).first;
  JsonName& entry = names_.emplace_back();
  entry.text = added->first;
  entry.parent = parent;
  entry.tail = static_cast<std::uint32_t>(tail);
  entry.seed = group_seed(name);
  entry.plain = name.find_first_of("\"\\") == std::string_view::npos;
  return index;
}

std::uint32_t JsonNames::fixed(const std::string& name) {
  if (const auto found = by_text_.find(name); found != by_text_.end()) return found->second;
  const std::uint32_t added = add(name, JsonName::unknown, 0);
  fixed_ = names_.size();
  return added;
}

void JsonNames::set_role(const std::string& name, JsonRole role) {
  JsonName& entry = names_[fixed(name)];
  if (entry.role != role && entry.role != JsonRole::feature)
    throw ConfigError(
        fmt::format("got two uses of {}, expected one of label, weight, id, ignored, feature", shown(name)));
  entry.role = role;
}

void JsonNames::set_kind(const std::string& name, JsonKind kind) {
  const std::uint32_t entry = fixed(name);
  set_role(name, JsonRole::feature);
  names_[entry].kind = kind;
}

void JsonNames::set_usual_kind(const std::string& name, JsonKind kind) {
  JsonName& entry = names_[fixed(name)];
  if (entry.kind == JsonKind::by_value) entry.kind = kind;
}

void JsonNames::add_group(const JsonGroup& group) {
  set_usual_kind(group.name, group.kind);
  if (names_[fixed(group.name)].group != JsonName::none)
    throw ConfigError(fmt::format("got two columns called {}, expected one", shown(group.name)));
  (void)group_of(fixed(group.name));
}

void JsonNames::begin_row() {
  ++row_;
  last_ = JsonName::none;
}

std::uint32_t JsonNames::guess(std::uint32_t parent, std::string_view raw) {
  const std::uint32_t guess = last_ == JsonName::none ? first_ : names_[last_].next;
  if (guess >= names_.size()) return JsonName::none;
  const JsonName& name = names_[guess];
  const std::string_view part = name.text.substr(name.tail);
  if (name.parent != parent || !name.plain || raw.size() <= part.size() || raw[part.size()] != '"' ||
      std::memcmp(raw.data(), part.data(), part.size()) != 0)
    return JsonName::none;
  return last_ = guess;
}

std::uint32_t JsonNames::find(std::uint32_t parent, std::string_view part) {
  path_.clear();
  if (parent != JsonName::none) path_.append(names_[parent].text).append(1, '.');
  const std::size_t tail = path_.size();
  path_ += part;
  std::uint32_t name = JsonName::none;
  if (const auto found = by_text_.find(path_); found != by_text_.end()) {
    name = found->second;
    if (names_[name].parent == JsonName::unknown) {
      names_[name].parent = parent;
      names_[name].tail = static_cast<std::uint32_t>(tail);
    }
  } else {
    if (names_.size() >= JsonRowParser::max_names || path_.size() > JsonRowParser::max_name) return JsonName::none;
    name = add(path_, parent, tail);
  }
  (last_ == JsonName::none ? first_ : names_[last_].next) = name;
  return last_ = name;
}

bool JsonNames::first_in_row(std::uint32_t name) {
  const bool first = names_[name].row != row_;
  names_[name].row = row_;
  return first;
}

std::uint32_t JsonNames::group_of(std::uint32_t name) {
  JsonName& entry = names_[name];
  if (entry.group == JsonName::none) {
    entry.group = static_cast<std::uint32_t>(groups_.size());
    groups_.emplace_back(entry.text);
    name_of_group_.push_back(name);
    names_at_group_.push_back(names_.size());
  }
  return entry.group;
}

void JsonNames::restore(Mark to) {
  for (std::size_t g = to.groups; g < groups_.size(); ++g) names_[name_of_group_[g]].group = JsonName::none;
  groups_.resize(to.groups);
  name_of_group_.resize(to.groups);
  names_at_group_.resize(to.groups);
  for (std::size_t n = to.names; n < names_.size(); ++n) by_text_.erase(by_text_.find(names_[n].text));
  names_.resize(to.names);
  for (std::size_t n = 0; n < fixed_; ++n)  // an object around them may be gone
    if (names_[n].parent < JsonName::unknown && names_[n].parent >= to.names) names_[n].parent = JsonName::unknown;
  last_ = JsonName::none;
}

// A group's name is no younger than the group, so what is younger than the last group that stays can go.
void JsonNames::forget_groups_after(std::size_t count) {
  count = std::min(count, groups_.size());
  restore({std::max(fixed_, count == 0 ? 0 : names_at_group_[count - 1]), count});
}

}  // namespace obolus
