#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "data/streams/numbered_classes.hpp"
#include "data/streams/stream_rows.hpp"
#include "obolus/core/error.hpp"
#include "obolus/core/rng.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus {
namespace {

class PictureRows : public StreamRows {
 public:
  PictureRows(Pictures pictures, Index classes, const PictureStreamOptions& options)
      : pictures_(std::move(pictures)),
        options_(options),
        rng_(static_cast<std::uint64_t>(options.seed)),
        classes_(numbered_classes(to_size(classes))),
        of_class_(classes_.size()),
        used_(classes_.size()) {
    if (options.phases > 0 && !(options.imbalance >= 1))
      throw ConfigError(fmt::format("imbalance: got {}, expected a number ≥ 1", options.imbalance));
    for (std::size_t grey = 0; grey < 256; ++grey) grey_text_[grey] = fmt::format(":{:.4g}", double(grey) / 255);
    order_.resize(pictures_.label.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    Rng(rng_.child("pictures")).shuffle(order_);
    for (const std::size_t i : order_) of_class_[pictures_.label[i]].push_back(i);
    const auto empty = std::find_if(of_class_.begin(), of_class_.end(), [](const auto& c) { return c.empty(); });
    if (options.phases > 0 && empty != of_class_.end())
      throw DataError(fmt::format("pictures: got none of class {}, expected some of each", empty - of_class_.begin()));
  }

  [[nodiscard]] const std::vector<std::string>& classes() const override { return classes_; }
  [[nodiscard]] bool next(StreamRow& row) override {
    if (options_.phases > 0 ? at_ == options_.rows : at_ == pictures_.count()) return false;
    const std::size_t i = options_.phases > 0 ? drawn() : order_[to_size(at_)];
    ++at_;
    row.label = pictures_.label[i];
    row.after.clear();
    const auto size = to_size(pictures_.height * pictures_.width);
    for (std::size_t j = 0; j < size; ++j)
      if (const std::uint8_t grey = pictures_.pixels[i * size + j]; grey != 0)
        row.after.append(" ").append(fmt::format_int(j + 1).c_str()).append(grey_text_[grey]);
    return true;
  }

 private:
  std::size_t drawn() {
    const std::int64_t length = (options_.rows + options_.phases - 1) / options_.phases;
    if (const std::int64_t phase = at_ / length; phase != phase_) begin(phase);
    double u = rng_.child("class", static_cast<std::uint64_t>(at_)).uniform() * total_;
    std::size_t c = 0;
    while (c + 1 < share_.size() && u >= share_[c]) u -= share_[c++];
    return of_class_[c][used_[c]++ % of_class_[c].size()];
  }
  void begin(std::int64_t phase) {
    phase_ = phase;
    std::vector<std::size_t> rank(classes_.size());
    std::iota(rank.begin(), rank.end(), std::size_t{0});
    rng_.child("phase", static_cast<std::uint64_t>(phase)).shuffle(rank);
    share_.resize(rank.size());
    const double ratio = rank.size() < 2 ? 1 : std::pow(options_.imbalance, -1 / double(rank.size() - 1));
    for (std::size_t c = 0; c < rank.size(); ++c) share_[c] = std::pow(ratio, double(rank[c]));
    total_ = std::accumulate(share_.begin(), share_.end(), 0.0);
  }

  Pictures pictures_;
  PictureStreamOptions options_;
  Rng rng_;
  std::vector<std::string> classes_;
  std::vector<std::vector<std::size_t>> of_class_;
  std::vector<std::size_t> used_, order_;
  std::array<std::string, 256> grey_text_;
  std::vector<double> share_;
  double total_ = 0;
  std::int64_t at_ = 0, phase_ = -1;
};

}  // namespace

std::unique_ptr<StreamRows> picture_rows(Pictures pictures, Index classes, const PictureStreamOptions& options) {
  return std::make_unique<PictureRows>(std::move(pictures), classes, options);
}

}  // namespace obolus
