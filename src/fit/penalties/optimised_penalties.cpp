#include "fit/penalties/optimised_penalties.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "config/comma_list.hpp"
#include "config/document.hpp"
#include "config/section_reader.hpp"
#include "fit/model/saved_vectors.hpp"
#include "obolus/any/erased.hpp"
#include "obolus/core/error.hpp"
#include "obolus/core/to_size.hpp"
#include "obolus/problems/softmax_l2.hpp"
#include "registry/registry.hpp"

namespace obolus::fit {
namespace {

// What suits a stream, of the options that this optimiser has; then what the user says.
std::unique_ptr<registry::PreparedOptimiser> prepare(const OptimisedPenaltyOptions& o, double rate) {
  const config::OptionValue defaults[] = {{"alpha", rate},
                                          {"inner_steps", o.steps},
                                          {"gamma", o.step},
                                          {"lambda1", 100.0},
                                          {"tau", 0.0},
                                          {"warm_start", "tied"},
                                          {"samples", "given"},
                                          {"outer_step", "log_adam"},
                                          {"shrinkage", o.shrinkage}};
  std::vector<std::string> settings = config::comma_list(o.settings);
  std::erase(settings, "");
  const toml::table root = config::section_of_settings("optimiser", settings, "--optimiser-options");
  config::SectionReader reader(root, "optimiser");
  registry::Setting setting;
  setting.defaults = defaults;
  auto prepared = registry::optimiser(o.optimiser).read(reader, setting);
  reader.finish();
  return prepared;
}

}  // namespace

struct OptimisedPenalties::Work {
  using Problem = Erased<SoftmaxL2<float>>;

  Work(const OptimisedPenaltyOptions& o, std::int64_t slots, int class_count)
      : capacity(slots), classes(class_count), sigma(to_size(slots) + 1), data(std::make_shared<LabelledRows>()) {
    data->classes = classes;
    data->train.columns = data->test.columns = static_cast<Index>(capacity) + 1;  // the last one is constant
    SoftmaxOptions options;
    options.feed = Feed::shared;
    problem = std::make_unique<Problem>(std::in_place, options, data, o.seed);
  }

  std::int64_t capacity;
  int classes;
  std::vector<float> sigma;  // 0: not needed yet
  std::shared_ptr<LabelledRows> data;
  std::unique_ptr<Problem> problem;
  std::unique_ptr<AnySession<float>> session;
  Round t = 0;
};

OptimisedPenalties::OptimisedPenalties(const OptimisedPenaltyOptions& options) : options_(options) {
  (void)prepare(options_, 1.0);
}
OptimisedPenalties::OptimisedPenalties(OptimisedPenalties&&) noexcept = default;
OptimisedPenalties& OptimisedPenalties::operator=(OptimisedPenalties&&) noexcept = default;
OptimisedPenalties::~OptimisedPenalties() = default;

// From these weights and the penalties so far.
void OptimisedPenalties::open(const Learnt& l) {
  const auto capacity = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(l.slots) + 1));
  auto next = std::make_unique<Work>(options_, capacity, l.classes);
  Vector<float> y = Vector<float>::Zero(next->problem->dims().y);
  const auto put = [&](std::int64_t column, double sigma, auto&& weight) {
    next->sigma[to_size(column)] = static_cast<float>(sigma);
    for (int c = 0; sigma > 0 && c < l.classes; ++c)
      y(static_cast<Index>(column * l.classes + c)) = static_cast<float>(weight(c) / sigma);
  };
  for (std::int64_t i = 0; i < l.slots; ++i)
    put(i, std::sqrt(l.scale(i) / l.curvature), [&](int c) { return l.weight(i, c); });
  put(capacity, std::sqrt(1 / l.curvature), l.constant);
  Vector<float> x = Vector<float>::Constant(static_cast<Index>(capacity) + 1, static_cast<float>(l.l2));
  for (std::int64_t i = 0; i < l.slots; ++i) x(static_cast<Index>(i)) *= l.ratio(i);
  work_ = std::move(next);
  opened_ = l.round;
  constexpr double most = 4;  // the learner's own steps are cut where the curvature asks for it; these are not
  alpha_ = std::min(l.rate, most);
  level_ = l.l2;
  ++times_;
  start(x, y);
}

void OptimisedPenalties::start(Vector<float>& x, const Vector<float>& y) {
  const Index last = x.size() - 1;
  Vector<double> low = Vector<double>::Constant(x.size(), options_.low),
                 high = Vector<double>::Constant(x.size(), options_.high);
  high(last) = options_.low;  // the constant's weights do not decay
  x = x.cwiseMax(static_cast<float>(options_.low)).cwiseMin(static_cast<float>(options_.high));
  x(last) = static_cast<float>(options_.low);
  work_->session = prepare(options_, alpha_)->open(*work_->problem, ConvexSet::box(low, high), x, y);
}

// Columns ascend, each once.
void OptimisedPenalties::add(const LearnerRow& row, double factor, const Learnt& l) {
  SparseRows& rows = work_->data->train;
  entries_.clear();
  for (const Entry& e : row.entries) {
    float& sigma = work_->sigma[to_size(e.slot)];
    if (sigma == 0) sigma = static_cast<float>(std::sqrt(l.scale(e.slot) / l.curvature));
    entries_.emplace_back(e.slot, static_cast<float>(factor) * e.value * sigma);
  }
  std::ranges::sort(entries_, {}, &std::pair<std::int32_t, float>::first);
  entries_.emplace_back(static_cast<std::int32_t>(work_->capacity), static_cast<float>(factor) * work_->sigma.back());
  const auto first = to_size(rows.start.back());
  for (const auto& [column, value] : entries_) {
    if (rows.column.size() > first && rows.column.back() == column) {
      rows.value.back() += value;
      continue;
    }
    rows.column.push_back(column);
    rows.value.push_back(value);
  }
  rows.start.push_back(static_cast<std::int64_t>(rows.column.size()));
  work_->data->train_label.push_back(row.label);
}

bool OptimisedPenalties::round(const Rows& inner, const Rows& outer, const Learnt& l) {
  ratio_.clear();
  for (const double number : {l.rate, l.l2, l.curvature, l.temperature})
    if (!(number > 0 && std::isfinite(number))) return false;
  if (inner.empty() || outer.empty() || l.classes < 2) return true;
  if (!work_ || l.classes != work_->classes || l.slots > work_->capacity || l.round >= 2 * opened_) open(l);
  SparseRows& rows = work_->data->train;
  rows.start.assign(1, 0);
  rows.column.clear();
  rows.value.clear();
  work_->data->train_label.clear();
  for (const LearnerRow* row : inner) add(*row, 1, l);
  for (const LearnerRow* row : outer) add(*row, 1 / l.temperature, l);
  RoundRows given;
  given.label = work_->data->train_label;
  given.row.resize(given.label.size());
  std::iota(given.row.begin(), given.row.end(), 0);
  given.inner = static_cast<Index>(inner.size());
  work_->problem->problem().pools().give(std::move(given));
  work_->problem->reveal(++work_->t);
  const Step step = work_->session->step(Rng(options_.seed).child("penalties", static_cast<std::uint64_t>(times_)));
  const auto x = work_->session->x().head(static_cast<Index>(l.slots)).array();
  ratio_.resize(to_size(l.slots));
  const float one = options_.centred ? std::exp(x.log().mean()) : static_cast<float>(level_);
  Eigen::Map<Vector<float>>(ratio_.data(), x.size()).array() = x / one;
  const bool sound =
      step.status == Status::ok && std::ranges::all_of(ratio_, [](float r) { return r > 0 && std::isfinite(r); });
  if (!sound) ratio_.clear();
  return sound;
}

void OptimisedPenalties::fields(Archive& a, std::int64_t slots, int classes) {
  a("opened", opened_);
  a("times", times_);
  a("alpha", alpha_);
  a("level", level_);
  bool working = work_ != nullptr;
  a("working", working);
  const auto refuse = [] { throw DataError("saved state: the penalties do not fit the features"); };
  if (a.loading()) {
    work_.reset();
    constexpr std::int64_t max = std::int64_t{1} << 53;
    const bool sound = opened_ >= 0 && opened_ < max && times_ >= 0 && times_ < max && std::isfinite(alpha_) &&
                       std::isfinite(level_) && (!working || (alpha_ > 0 && level_ > 0));
    if (!sound) refuse();
  }
  if (!working) return;
  std::int64_t capacity = work_ ? work_->capacity : 0, t = work_ ? work_->t : 0;
  int of_classes = work_ ? work_->classes : 0;
  a("capacity", capacity);
  a("classes", of_classes);
  a("t", t);
  if (a.loading()) {
    // An optimiser may be behind by the features and classes of one round, and is never ahead by more than half of
    // its features.
    if (capacity < 1 || capacity > 4 * (slots + 1) || of_classes < 2 || of_classes > classes || t < 0 ||
        t >= std::int64_t{1} << 53)
      refuse();
    work_ = std::make_unique<Work>(options_, capacity, of_classes);
    work_->t = t;
    Vector<float> x = Vector<float>::Constant(work_->problem->dims().x, static_cast<float>(level_));
    start(x, Vector<float>::Zero(work_->problem->dims().y));
  }
  saved(a, "sigma", work_->sigma);
  if (static_cast<std::int64_t>(work_->sigma.size()) != capacity + 1) refuse();
  a("session", *work_->session);
}

}  // namespace obolus::fit
