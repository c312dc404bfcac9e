// Measures of a pair (x, y) beyond f and g: an accuracy, a loss on held-out data.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "obolus/core/archive.hpp"
#include "obolus/core/oracle.hpp"
#include "obolus/core/to_size.hpp"
#include "obolus/core/types.hpp"

namespace obolus {

// A few numbers with names. A problem gives the same names in the same order every time; they become keys of files
// and column headings, so they are plain words: "test_accuracy".
class Evaluation {
 public:
  struct Number {
    std::string name;
    double value = 0.0;
    friend bool operator==(const Number&, const Number&) = default;
  };

  void add(std::string_view name, double value) { numbers_.push_back({std::string(name), value}); }
  void clear() { numbers_.clear(); }

  [[nodiscard]] bool empty() const { return numbers_.empty(); }
  [[nodiscard]] std::size_t size() const { return numbers_.size(); }
  [[nodiscard]] auto begin() const { return numbers_.begin(); }
  [[nodiscard]] auto end() const { return numbers_.end(); }
  [[nodiscard]] auto begin() { return numbers_.begin(); }
  [[nodiscard]] auto end() { return numbers_.end(); }
  [[nodiscard]] std::optional<double> find(std::string_view name) const {
    const auto found = std::find_if(begin(), end(), [&](const Number& n) { return n.name == name; });
    return found == end() ? std::nullopt : std::optional(found->value);
  }
  friend bool operator==(const Evaluation&, const Evaluation&) = default;

  // The names are saved too: the loading program may not have evaluated the problem yet.
  void fields(Archive& a) {
    auto count = static_cast<std::int64_t>(numbers_.size());
    a("count", count);
    if (a.loading()) numbers_.clear();
    for (std::int64_t i = 0; i < count; ++i) {  // one at a time: a corrupt count fails when the bytes run out
      if (a.loading()) numbers_.emplace_back();
      Number& n = numbers_[to_size(i)];
      a("name", n.name);
      a("value", n.value);
    }
  }

 private:
  std::vector<Number> numbers_;
};

// Measures of the committed (x_t, y_t), however expensive: taken at some rounds, outside the clock. They must
// leave the current round and its functions unchanged.
template <class P>
concept Evaluated = FirstOrderOracle<P> &&
                    requires(P& p, In<ScalarOf<P>> x, In<ScalarOf<P>> y, Evaluation& out) { p.evaluate(x, y, out); };

// Cheap measures of the committed (x_t, y_t) on the data that round t reveals, before the update sees them. A run keeps
// their running means, named prequential_<name>.
template <class P>
concept Judged = FirstOrderOracle<P> &&
                 requires(P& p, In<ScalarOf<P>> x, In<ScalarOf<P>> y, Evaluation& out) { p.judge(x, y, out); };

}  // namespace obolus
