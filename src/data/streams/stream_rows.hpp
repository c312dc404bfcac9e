// Streams of labelled rows, made from local data or generated, to be written as svmlight, CSV or Vowpal Wabbit text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "obolus/data/generators.hpp"
#include "obolus/data/pictures.hpp"
#include "obolus/data/text.hpp"

namespace obolus {

// A line is `before`, the name of the class, `after`.
struct StreamRow {
  std::size_t label = 0;
  std::string before, after;
};

class StreamRows {
 public:
  virtual ~StreamRows() = default;

  [[nodiscard]] virtual const std::vector<std::string>& classes() const = 0;
  [[nodiscard]] virtual std::string head() const { return {}; }  // a line before all rows
  [[nodiscard]] virtual bool next(StreamRow& row) = 0;           // false at the end
};

// svmlight: tf-idf of the training documents, then of the test documents, each part shuffled. Weights are fitted to the
// training documents.
[[nodiscard]] std::unique_ptr<StreamRows> newsgroups_rows(const TokenisedCorpus& corpus, std::int64_t seed,
                                                          int threads);

// Without phases, the training pictures, shuffled. Otherwise `rows` rows in phases of equal length; each phase orders
// the classes anew, and their proportions fall geometrically until the last is `imbalance` times rarer than the first.
// A class whose pictures are used up starts again.
struct PictureStreamOptions {
  std::int64_t rows = 0, phases = 0, seed = 1;
  double imbalance = 20;
};

// svmlight: grey values in [0, 1].
[[nodiscard]] std::unique_ptr<StreamRows> picture_rows(Pictures pictures, Index classes,
                                                       const PictureStreamOptions& options);

// CSV, endless.
[[nodiscard]] std::unique_ptr<StreamRows> generated_rows(const GeneratorOptions& options);

// The lines of a Vowpal Wabbit file whose labels are 1 to `classes`. Throws DataError.
[[nodiscard]] std::unique_ptr<StreamRows> vowpal_wabbit_lines(const std::string& path, std::size_t classes);

// Sudden faults in the labels. Rows count from 0, so a number is that of the rows before the change.
struct LabelFaults {
  // At each, the first class swaps its name with the last, the second with the last but one, …
  std::vector<std::int64_t> swaps = {};
  double noise = 0;  // fraction of the labels that are wrong, each wrong one equally likely
  std::int64_t noise_from = 0;
  std::int64_t seed = 1;
};

[[nodiscard]] std::size_t faulty_label(std::size_t label, std::size_t classes, std::int64_t row,
                                       const LabelFaults& faults);

// Writes at most `max` rows and returns their number. Lines come in blocks of any length.
std::int64_t write_stream(StreamRows& rows, std::int64_t max, const LabelFaults& faults,
                          const std::function<void(std::string_view)>& write);

}  // namespace obolus
