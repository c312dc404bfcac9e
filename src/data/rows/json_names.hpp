// The names that the rows of JSON have had: what each is for, and the groups of those that are features.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/rows/json_row.hpp"
#include "data/rows/text_hash.hpp"

namespace obolus {

enum class JsonRole : std::uint8_t { feature, label, weight, id, ignored };

struct JsonName {
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max(), unknown = none - 1;

  std::string_view text;        // with those of the objects around it, joined by dots
  std::uint32_t parent = none;  // the object around it
  std::uint32_t next = none;    // what came after it last time
  std::uint32_t group = none;   // once it had a value
  std::uint32_t tail = 0;       // where its own part begins
  std::uint64_t seed = 0;
  std::uint64_t row = 0;  // that had it last
  JsonRole role = JsonRole::feature;
  JsonKind kind = JsonKind::by_value;
  bool plain = false;  // written as it is, without escapes
};

class JsonNames {
 public:
  // Before the first row. Throws ConfigError if the name has another use.
  void set_role(const std::string& name, JsonRole role);
  void set_kind(const std::string& name, JsonKind kind);
  void set_usual_kind(const std::string& name, JsonKind kind);  // unless another was set
  void add_group(const JsonGroup& group);

  void begin_row();
  // The name, of which `raw` begins with the text behind its opening quote, if it follows the last one as it did before
  // and is written without escapes; else none.
  [[nodiscard]] std::uint32_t guess(std::uint32_t parent, std::string_view raw);
  // The name by its own part; none if there are too many.
  [[nodiscard]] std::uint32_t find(std::uint32_t parent, std::string_view part);
  // False if the row had it before.
  [[nodiscard]] bool first_in_row(std::uint32_t name);
  [[nodiscard]] const JsonName& operator[](std::uint32_t name) const { return names_[name]; }
  std::uint32_t group_of(std::uint32_t name);

  struct Mark {
    std::size_t names = 0, groups = 0;
  };
  [[nodiscard]] Mark mark() const { return {names_.size(), groups_.size()}; }
  void restore(Mark to);  // forgets all that came after
  void forget_groups_after(std::size_t count);
  [[nodiscard]] const std::vector<std::string>& groups() const { return groups_; }

 private:
  [[nodiscard]] std::uint32_t add(std::string_view name, std::uint32_t parent, std::size_t tail);
  [[nodiscard]] std::uint32_t fixed(const std::string& name);

  std::unordered_map<std::string, std::uint32_t, TextHash, std::equal_to<>> by_text_;
  std::vector<JsonName> names_;
  std::vector<std::string> groups_;
  std::vector<std::uint32_t> name_of_group_;
  std::vector<std::size_t> names_at_group_;  // how many there were with it
  std::string path_;
  std::size_t fixed_ = 0;  // names that the options gave
  std::uint32_t first_ = JsonName::none, last_ = JsonName::none;
  std::uint64_t row_ = 0;
};

}  // namespace obolus
