#include "obolus/data/text.hpp"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "data/counting_crew.hpp"
#include "data/fold.hpp"
#include "data/term_counter.hpp"
#include "obolus/core/error.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus {
namespace {

constexpr std::size_t batch_bytes = std::size_t{1} << 18;

// Counts and term numbers fit into 32 bits within these limits.
constexpr std::size_t max_text = std::numeric_limits<std::int32_t>::max(), max_bytes = std::size_t{1} << 32;

void require_known_label(const Text& text, std::size_t classes) {
  if (text.label < 0 || to_size(text.label) >= classes)
    throw DataError(fmt::format("label of a document: got {}, expected one of {} classes", text.label, classes));
}

// Hands texts to the crew in batches, numbered consecutively across parts.
class Feeder {
 public:
  Feeder(CountingCrew& crew, std::size_t classes) : crew_(crew), classes_(classes) {}

  PartOrder feed(std::span<const Text> texts) {
    PartOrder order;
    for (const Text& text : texts) {
      require_known_label(text, classes_);
      total_ += text.bytes.size();
      if (text.bytes.size() > max_text || total_ > max_bytes)
        throw DataError(fmt::format("documents: got more than {} bytes in one or {} in all", max_text, max_bytes));
      order.document.push_back(documents_);
      order.label.push_back(text.label);
      batch_.items.push_back({documents_++, text.bytes});
      in_batch_ += text.bytes.size();
      if (in_batch_ >= batch_bytes) flush();
    }
    flush();
    return order;
  }

 private:
  void flush() {
    crew_.add(std::exchange(batch_, {}));
    in_batch_ = 0;
  }

  CountingCrew& crew_;
  std::size_t classes_, documents_ = 0, total_ = 0, in_batch_ = 0;
  Batch batch_;
};

}  // namespace

TokenisedCorpus tokenise(std::span<const Text> train, std::span<const Text> test, std::vector<std::string> classes,
                         Encoding encoding, int threads) {
  CountingCrew crew(encoding, threads);
  Feeder feeder(crew, classes.size());
  const PartOrder train_order = feeder.feed(train), test_order = feeder.feed(test);
  std::vector<TermCounter> counters = crew.finish();
  return join(std::move(counters), std::move(classes), train_order, test_order, threads);
}

std::vector<std::string> words(std::string_view text, Encoding encoding) {
  FoldedText folded;
  fold(text, encoding, folded);
  std::vector<std::string> found;
  for_each_word(folded, [&](const FoldedWord& word) { found.emplace_back(word.bytes, word.size); });
  return found;
}

}  // namespace obolus
