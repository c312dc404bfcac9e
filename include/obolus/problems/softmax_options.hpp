// The options of `softmax_l2`, and the data behind it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "obolus/core/options.hpp"
#include "obolus/data/sparse_rows.hpp"
#include "obolus/data/vectoriser.hpp"

namespace obolus {

enum class SoftmaxData : std::uint8_t { generated, newsgroups, rows };
template <>
struct EnumNames<SoftmaxData> {
  static constexpr std::array<std::pair<SoftmaxData, std::string_view>, 3> values{
      {{SoftmaxData::generated, "generated"}, {SoftmaxData::newsgroups, "20news"}, {SoftmaxData::rows, "rows"}}};
};

// Who shares a weight x_i of the penalty.
enum class Sharing : std::uint8_t { feature, group, global };
template <>
struct EnumNames<Sharing> {
  static constexpr std::array<std::pair<Sharing, std::string_view>, 3> values{
      {{Sharing::feature, "feature"}, {Sharing::group, "group"}, {Sharing::global, "global"}}};
};

// Which rows a round reveals.
enum class Feed : std::uint8_t {
  split,   // a batch of the training pool for g, one of the validation pool for f; every row once an epoch
  shared,  // the same, both from the whole pool
  judge,   // judge, then train: the newest batch for f; the batch before it and replayed rows for g
};
template <>
struct EnumNames<Feed> {
  static constexpr std::array<std::pair<Feed, std::string_view>, 3> values{
      {{Feed::split, "split"}, {Feed::shared, "shared"}, {Feed::judge, "judge"}}};
};

enum class LabelDrift : std::uint8_t { none, swap, rotate };
template <>
struct EnumNames<LabelDrift> {
  static constexpr std::array<std::pair<LabelDrift, std::string_view>, 3> values{
      {{LabelDrift::none, "none"}, {LabelDrift::swap, "swap"}, {LabelDrift::rotate, "rotate"}}};
};

enum class Temperature : std::uint8_t { none, fitted };
template <>
struct EnumNames<Temperature> {
  static constexpr std::array<std::pair<Temperature, std::string_view>, 2> values{
      {{Temperature::none, "none"}, {Temperature::fitted, "fitted"}}};
};

struct SoftmaxOptions {
  SoftmaxData data = SoftmaxData::generated;
  FilePath rows = FilePath::optional();
  VectoriserOptions text = {};
  std::int64_t documents = 60, features = 24, classes = 3;
  Feed feed = Feed::split;
  std::int64_t batch = 16;
  std::int64_t replay = 256, replay_window = 20'000;
  Sharing sharing = Sharing::feature;
  std::int64_t groups = 20;
  Numbers noise = 0.0;
  Numbers noise_rounds = 1.0;
  LabelDrift drift = LabelDrift::none;
  std::int64_t period = 1000;
  Temperature temperature = Temperature::none;

  template <class V>
  void describe(V&& v) {
    constexpr double many = 1e7;
    v("data", data,
      "generated; 20news: the 20 Newsgroups corpus, see `obolus data get 20news`; rows: a file of one's own");
    v("rows", rows,
      "data = \"rows\": the file, in any format that `obolus fit` reads; its rows come in their order, one in ten is "
      "for tests");
    text.describe(v);
    v("documents", documents, "generated: training documents; half as many are for tests", Range::between(4, many));
    v("features", features, "generated: size of the vocabulary", Range::between(2, many));
    v("classes", classes, "generated: number of classes", Range::between(2, 1000));
    v("feed", feed,
      "split: batches of two halves, for g and f; shared: both from all rows; judge: the newest batch for f, the one "
      "before it and replayed rows for g");
    v("batch", batch, "rows of f and of g per round; 0: whole pools", Range::between(0, many));
    v("replay", replay, "judge: rows of earlier rounds in g beside the last batch", Range::between(0, many));
    v("replay_window", replay_window, "judge: how many of the latest rows are replayed", Range::between(1, 1e12));
    v("sharing", sharing, "one x_i for every feature, for every group of features alike frequent, or one for all");
    v("groups", groups, "sharing = \"group\": number of groups", Range::between(1, many));
    v("noise", noise, "parts of labels that are wrong, a list in step with noise_rounds", Range::between(0.0, 1.0));
    v("noise_rounds", noise_rounds, "rounds from which each of them holds, ascending", Range::at_least(1.0));
    v("drift", drift, "swap: two classes exchange names every period; rotate: all names move on by one");
    v("period", period, "rounds between changes of the drift", Range::at_least(1.0));
    v("temperature", temperature,
      "fitted: f scales its logits by the one number that is best on its rows, so that f judges ranks, not sizes");
  }
};

// Rows with their true classes, for training and validation and for tests.
struct LabelledRows {
  SparseRows train, test;
  std::vector<std::int32_t> train_label, test_label;
  Index classes = 0;
};

}  // namespace obolus
