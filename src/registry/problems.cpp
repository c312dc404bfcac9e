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

// Paths in a config are meant from its folder.
std::string absolute(const std::string& folder, const std::string& path) {
  return std::filesystem::absolute(std::filesystem::path(folder) / path).lexically_normal().string();
}

template <template <class> class Problem>
class Prepared final : public PreparedProblem {
  using Options = typename Problem<double>::Options;

 public:
  Prepared(config::SectionReader& reader, const std::string& folder) {
    options_.describe(reader);
    if constexpr (requires { options_.path; }) {
      if (options_.path.empty()) reader.reject("path", "the path of a file");
      options_.path = absolute(folder, options_.path);
    } else if constexpr (requires { options_.rows.empty(); }) {
      if (!options_.rows.empty()) options_.rows = absolute(folder, options_.rows);
    }
  }

  [[nodiscard]] std::string section() const override { return config::section_lines(options_); }
  [[nodiscard]] std::uint64_t data_checksum() const override {
    if constexpr (requires { options_.path; }) return file_checksum(options_.path);
    else if constexpr (requires { options_.rows.empty(); })
      return options_.rows.empty() ? 0 : file_checksum(options_.rows);
    else return 0;
  }
  [[nodiscard]] std::unique_ptr<AnyOracle<double>> make_double(std::uint64_t seed) const override {
    return std::make_unique<Erased<Problem<double>>>(std::in_place, options_, seed);
  }
  [[nodiscard]] std::unique_ptr<AnyOracle<float>> make_float(std::uint64_t seed) const override {
    return std::make_unique<Erased<Problem<float>>>(std::in_place, options_, seed);
  }

 private:
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
