// A learner's state, saved and restored. Whoever wrote it, nothing in it may lead outside of the weights.
#include <algorithm>
#include <string>

#include "fit/learner.hpp"
#include "obolus/core/error.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus::fit {

template <class S>
void Learner<S>::model_fields(Archive& a) {
  a("hyperparameters", hyper_);
  if (a.loading()) weights_ = Weights<S>(hyper_.parts(), 1, hyper_.groups());
  if (a.loading() && features_differ()) weights_.use_paces();
  weights_.model_fields(a);
  number_fields(a);
}

template <class S>
void Learner<S>::number_fields(Archive& a) {
  a("classes", classes_), a("round", round_), a("seen", seen_);
  a("curvature", curvature_), a("outer_loss", outer_loss_);
  if (!a.loading()) return;
  slope_.resize(hyper_.list.size());
  const int outputs = classes_ <= 2 && !o_.softmax ? 1 : std::max(classes_, 1);
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
  a("hyperparameters", hyper_), a("weights", weights_);
  number_fields(a);
  const auto max = static_cast<std::uint64_t>(std::max<std::int64_t>(o_.buffer, 1 << 20));
  saved(a, "class_weight", class_weight_), a("buffer_next", buffer_next_);
  saved_list(a, "buffer", buffer_, max), saved_list(a, "pending", pending_, max);
  a("kept", kept_);
  if (penalties_) penalties_->fields(a, weights_.slots());
  if (optimised_) optimised_->fields(a, weights_.slots(), classes_);
  if (!a.loading()) return;
  require_sound(buffer_, classes_), require_sound(pending_, classes_);
  if (kept_ < 0 || buffer_next_ < 0 || (buffer_next_ > 0 && buffer_next_ >= o_.buffer) ||
      class_weight_.size() != to_size(classes_))
    throw DataError("saved state: the learner's sizes do not fit together");
  regather();
}

template <class S>
void Learner<S>::require_sound(const std::vector<Row>& rows, int classes) const {
  const auto slot = [&](const Entry& e) { return e.slot >= 0 && e.slot < weights_.slots(); };
  const auto good = [&](const Row& r) {
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
