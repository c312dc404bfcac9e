#include <array>
#include <filesystem>

#include "data/checksum.hpp"
#include "obolus/any/erased.hpp"
#include "obolus/problems/loss_tuning.hpp"
#include "obolus/problems/oscillation.hpp"
#include "obolus/problems/quadratic.hpp"
#include "obolus/problems/quadratic_file.hpp"
#include "obolus/problems/softmax_l2.hpp"
#include "registry/registry.hpp"

namespace obolus::registry {
namespace {

// Relative paths in a config start from its folder.
std::string absolute(const std::string& folder, const std::string& path) {
  return std::filesystem::absolute(std::filesystem::path(folder) / path).lexically_normal().string();
}

template <template <class> class Problem>
class Prepared final : public PreparedProblem {
  using Options = typename Problem<double>::Options;

 public:
  Prepared(config::SectionReader& reader, const std::string& folder) {
    options_.describe(reader);
    for_each_path([&](std::string_view name, FilePath& path) {
      if (path.empty() && !path.may_be_empty) reader.reject(name, "the path of a file");
      if (!path.empty()) path.assign(absolute(folder, path));
    });
  }

  [[nodiscard]] std::string section() const override { return config::section_lines(options_); }
  [[nodiscard]] std::uint64_t data_checksum() const override {
    std::uint64_t sum = 0;
    Prepared(*this).for_each_path([&](std::string_view, const FilePath& path) {
      if (!path.empty()) sum = file_checksum(path);
    });
    return sum;
  }
  [[nodiscard]] std::shared_ptr<AnyOracle<double>> make_double(std::uint64_t seed) const override {
    return std::make_shared<Erased<Problem<double>>>(std::in_place, options_, seed);
  }
  [[nodiscard]] std::shared_ptr<AnyOracle<float>> make_float(std::uint64_t seed) const override {
    return std::make_shared<Erased<Problem<float>>>(std::in_place, options_, seed);
  }

 private:
  template <class See>
  void for_each_path(const See& see) {
    options_.describe([&]<class T>(std::string_view name, T& value, std::string_view, Range = {}) {
      if constexpr (std::is_same_v<T, FilePath>) see(name, value);
    });
  }

  Options options_;
};

template <template <class> class Problem>
constexpr ProblemEntry entry() {
  return {Problem<double>::name, Problem<double>::title, &option_listing<typename Problem<double>::Options>,
          [](config::SectionReader& reader, const std::string& folder) -> std::unique_ptr<PreparedProblem> {
            return std::make_unique<Prepared<Problem>>(reader, folder);
          }};
}

const std::array problems{
    entry<Oscillation>(), entry<Quadratic>(),     entry<QuadraticFile>(),
    entry<SoftmaxL2>(),   entry<SoftmaxOracle>(), entry<LossTuning>(),
};

}  // namespace

const ProblemEntry& problem(const std::string& name) {
  for (const ProblemEntry& e : problems)
    if (e.name == name) return e;
  throw ConfigError("problem.name: there is no problem '" + name + "'" +
                    suggestion(name, names_of(problems, [](const auto& e) { return e.name; })));
}

}  // namespace obolus::registry

namespace obolus {
std::vector<Listing> list_problems() {
  std::vector<Listing> list;
  for (const auto& e : registry::problems) list.push_back({std::string(e.name), std::string(e.title), {}, e.options()});
  return list;
}
}  // namespace obolus
