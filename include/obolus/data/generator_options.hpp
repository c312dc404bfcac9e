// The options of the generated streams (generators.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "obolus/core/options.hpp"

namespace obolus {

// What all of them share: the seed, and when one concept gives way to the next. With p_1 < p_2 < … for drift_rows, row
// i belongs to
//     abrupt (drift_width = 0):  stretch #{j : p_j ≤ i},
//     gradual (width w):         the last stretch j that wins its draw, with probability 1/(1 + exp(−4(i − p_j)/w)),
//                                otherwise stretch 0.
// The gradual law is that of nested ConceptDriftStreams in MOA (Bifet, Holmes, Kirkby, Pfahringer, «MOA: Massive Online
// Analysis», JMLR 11, 2010). Stretch j holds concept j + 1, or entry j of `concepts`.
struct ConceptOptions {
  std::int64_t seed = 1;
  Numbers drift_rows = 0.0;
  double drift_width = 0.0;
  Numbers concepts = 0.0;

  template <class V>
  void describe(V&& v) {
    v("seed", seed, "seed; a row depends on it and on its own number only");
    v("drift_rows", drift_rows, "number of rows before each change of concept, an ascending list; 0: no change");
    v("drift_width", drift_width,
      "0: abrupt changes; otherwise the number of rows over which the old concept fades out, along a sigmoid of slope "
      "1/width",
      Range::between(0.0, 1e15));
    v("concepts", concepts,
      "numbers of the concepts before, between and after the changes, a list, repeated as needed; 0: 1, 2, 3, …");
  }
};

struct SeaOptions {
  static constexpr std::string_view name = "sea";
  static constexpr std::string_view summary =
      "three numbers, two classes: is the sum of the first two above a threshold?";
  static constexpr std::string_view citation =
      "Street, Kim: A streaming ensemble algorithm (SEA) for large-scale classification, KDD 2001";

  ConceptOptions stream = {};
  double noise = 0.1;
  std::optional<double> share = {};

  template <class V>
  void describe(V&& v) {
    stream.describe(v);
    v("noise", noise, "fraction of the labels that are flipped", Range::between(0.0, 1.0));
    v("share", share, "fraction of the rows in class 1 before noise; not set: as the concept gives it",
      Range::between(0.0, 1.0));
  }
};

struct HyperplaneOptions {
  static constexpr std::string_view name = "hyperplane";
  static constexpr std::string_view summary = "points of the unit cube on two sides of a plane that turns";
  static constexpr std::string_view citation = "Hulten, Spencer, Domingos: Mining time-changing data streams, KDD 2001";

  ConceptOptions stream = {};
  std::int64_t features = 10;
  std::int64_t drifting = 2;
  double magnitude = 0.001;
  double turn = 0.1;
  double noise = 0.05;

  template <class V>
  void describe(V&& v) {
    stream.describe(v);
    v("features", features, "dimension of the cube", Range::between(1, 1e6));
    v("drifting", drifting, "how many weights of the plane change: the first ones", Range::between(0, 1e6));
    v("magnitude", magnitude, "how much each of them changes per row", Range::between(0.0, 1.0));
    v("turn", turn, "probability per row that such a weight reverses its direction", Range::between(0.0, 1.0));
    v("noise", noise, "fraction of the labels that are flipped", Range::between(0.0, 1.0));
  }
};

struct RandomRbfOptions {
  static constexpr std::string_view name = "rbf";
  static constexpr std::string_view summary =
      "clouds around centroids of random classes and weights, some of which move";
  static constexpr std::string_view citation =
      "Bifet, Holmes, Kirkby, Pfahringer: MOA: Massive Online Analysis, JMLR 11, 2010";

  ConceptOptions stream = {};
  std::int64_t features = 10;
  std::int64_t classes = 2;
  std::int64_t centroids = 50;
  std::int64_t moving = 50;
  double speed = 0.0;
  bool balance = false;
  double noise = 0.0;

  template <class V>
  void describe(V&& v) {
    stream.describe(v);
    v("features", features, "dimension of the space", Range::between(1, 1e6));
    v("classes", classes, "number of classes", Range::between(2, 1e6));
    v("centroids", centroids, "number of clouds, at least one per class", Range::between(2, 1e6));
    v("moving", moving, "how many of the centroids move: the first ones, or all if there are fewer",
      Range::between(0, 1e6));
    v("speed", speed, "how far each of them moves per row", Range::between(0.0, 1.0));
    v("balance", balance, "true: all classes are equally frequent before noise");
    v("noise", noise, "fraction of the labels that are wrong, each wrong one equally likely", Range::between(0.0, 1.0));
  }
};

struct LedOptions {
  static constexpr std::string_view name = "led";
  static constexpr std::string_view summary =
      "the digit that a seven-segment display with faults shows, among irrelevant bits";
  static constexpr std::string_view citation =
      "Breiman, Friedman, Olshen, Stone: Classification and Regression Trees, 1984; drift: MOA, JMLR 11, 2010";

  ConceptOptions stream = {};
  double noise = 0.1;
  bool irrelevant = true;
  std::int64_t drifting = 0;

  template <class V>
  void describe(V&& v) {
    stream.describe(v);
    v("noise", noise, "probability that a segment is inverted", Range::between(0.0, 1.0));
    v("irrelevant", irrelevant, "true: 17 fair bits follow the seven segments");
    v("drifting", drifting, "how many segments swap places with irrelevant bits in every concept but the first",
      Range::between(0, 7));
  }
};

struct AgrawalOptions {
  static constexpr std::string_view name = "agrawal";
  static constexpr std::string_view summary =
      "loan applications in two groups, by ten functions of six numbers and three categories";
  static constexpr std::string_view citation =
      "Agrawal, Imielinski, Swami: Database mining: a performance perspective, IEEE TKDE 5(6), 1993";

  ConceptOptions stream = {};
  double perturbation = 0.05;
  double noise = 0.0;
  std::optional<double> share = {};

  template <class V>
  void describe(V&& v) {
    stream.describe(v);
    v("perturbation", perturbation, "maximum shift of each number after labelling, as a fraction of its range",
      Range::between(0.0, 1.0));
    v("noise", noise, "fraction of the labels that are flipped", Range::between(0.0, 1.0));
    v("share", share, "fraction of the rows in group B before noise; not set: as the concept gives it",
      Range::between(0.0, 1.0));
  }
};

}  // namespace obolus
