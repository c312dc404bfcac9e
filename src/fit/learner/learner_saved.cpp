// A learner's state, saved and restored. Whatever wrote it, nothing in it may lead outside of the weights.
#include <algorithm>
#include <string>

#include "fit/learner/learner.hpp"
#include "obolus/core/error.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus::fit {

template <class S>
void Learner<S>::model_fields(Archive& a) {
  a("hyperparameters", hyper_);
  if (a.loading()) {
    weights_ = Weights<S>(hyper_.parts(), 1, hyper_.groups());
    if (penalties_->per_feature()) weights_.use_feature_decay();
  }
  weights_.model_fields(a);
  number_fields(a);
}

template <class S>
void Learner<S>::number_fields(Archive& a) {
  a("classes", classes_);
  a("round", round_);
  a("seen", seen_);
  double curvature = span_.is_open() ? curvature_before_ : curvature_;
  double learnt = span_.is_open() ? learnt_before_ : learnt_;
  a("curvature", curvature);
  a("learnt", learnt);
  if (a.loading()) {
    curvature_ = curvature;
    learnt_ = learnt;
  }
  outer_.value_fields(a);
  if (!trains_classes()) a("targets", targets_);
  if (!a.loading()) return;
  outer_.set_hyperparameters(hyper_.list.size());
  const int outputs = std::max(outputs_for(classes_), 1);
  const auto for_each_class = [&](Tunable kind) {
    const auto count = std::ranges::count(hyper_.list, kind, &Hyperparameter::kind);
    return count == 0 || count == outputs;
  };
  if (weights_.parts() != hyper_.parts() || weights_.groups() != hyper_.groups() || classes_ < 0 ||
      weights_.outputs() != outputs || !for_each_class(Tunable::shift) || !for_each_class(Tunable::scale) ||
      round_ < 0 || round_ >= std::int64_t{1} << 53)
    throw DataError("saved state: the weights do not fit the hyperparameters or the classes");
}

template <class S>
void Learner<S>::fields(Archive& a) {
  a("hyperparameters", hyper_);
  a("weights", weights_);
  number_fields(a);
  const auto max = static_cast<std::uint64_t>(std::max<std::int64_t>(options_.buffer, 1 << 20));
  outer_.class_fields(a);
  buffer_.row_fields(a, max);
  std::vector<LearnerRow> pending(pending_.begin(), pending_.end());
  saved_list(a, "pending", pending, max);
  buffer_.newest_fields(a);
  penalties_->fields(a, weights_.slots(), classes_);
  if (!a.loading()) return;
  require_sound(buffer_.rows(), classes_);
  require_sound(pending, classes_);
  if (!buffer_.is_sound() || outer_.classes() != to_size(classes_))
    throw DataError("saved state: the learner's sizes do not fit together");
  pending_.assign(pending.begin(), pending.end());
  regather();
}

template <class S>
void Learner<S>::require_sound(const std::vector<LearnerRow>& rows, int classes) const {
  const auto slot = [&](const Entry& e) { return e.slot >= 0 && e.slot < weights_.slots(); };
  const auto good = [&](const LearnerRow& r) {
    std::int64_t before = 0;
    for (const std::int32_t end : r.group_ends) {
      if (end < before || end > static_cast<std::int64_t>(r.entries.size())) return false;
      before = end;
    }
    return std::ranges::all_of(r.entries, slot) && r.label >= 0 && (!trains_classes() || r.label < classes);
  };
  if (!std::ranges::all_of(rows, good)) throw DataError("saved state: the learner's rows do not fit its weights");
}

template void Learner<float>::model_fields(Archive&);
template void Learner<float>::number_fields(Archive&);
template void Learner<float>::fields(Archive&);
template void Learner<float>::require_sound(const std::vector<LearnerRow>&, int) const;
template void Learner<double>::model_fields(Archive&);
template void Learner<double>::number_fields(Archive&);
template void Learner<double>::fields(Archive&);
template void Learner<double>::require_sound(const std::vector<LearnerRow>&, int) const;

}  // namespace obolus::fit
