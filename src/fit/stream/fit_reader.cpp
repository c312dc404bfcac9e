#include <memory>
#include <span>
#include <vector>

#include "fit/stream/fit_parts.hpp"
#include "obolus/fit/fit.hpp"

namespace obolus {

struct FitReader::State {
  std::vector<fit::KnownColumn> known;  // by the row's group; of the last row, until this one has it
  Fit::Parts::Scratch scratch;
};

FitReader::FitReader() : state_(std::make_unique<State>()) {}
FitReader::FitReader(FitReader&&) noexcept = default;
FitReader& FitReader::operator=(FitReader&&) noexcept = default;
FitReader::~FitReader() = default;

const Prediction& FitReader::predict(const Fit& fit, const DataRow& row, std::span<const std::string> groups,
                                     bool columns) {
  State& s = *state_;
  const Fit::Parts& p = *fit.parts_;
  s.known.resize(groups.size());
  for (const RowFeature& f : row.features)
    if (f.group < groups.size()) s.known[f.group] = p.columns.find(groups[f.group], s.known[f.group].number);
  p.predict(row, s.known, columns, s.scratch);
  return s.scratch.prediction;
}

}  // namespace obolus
