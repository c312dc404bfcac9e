// The words of texts and how often each comes, as scikit-learn's CountVectorizer finds them: text lowered as Python's
// str.lower does, words of two characters or more by (?u)\b\w\w+\b. Both follow Unicode 14 throughout, as Python 3.11
// does. Bytes that are not UTF-8 separate words.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace obolus {

enum class Encoding : std::uint8_t { latin1, utf8 };

// Every term of every document, whatever a vectoriser keeps later. A document is a row of (term, count) by term.
struct TokenisedCorpus {
  struct Part {
    std::vector<std::int64_t> start{0};  // documents + 1
    std::vector<std::int32_t> term;      // into `terms`
    std::vector<std::int32_t> count;
    std::vector<std::int32_t> label;  // into `classes`, one per document

    [[nodiscard]] std::int64_t documents() const { return static_cast<std::int64_t>(start.size()) - 1; }
    friend bool operator==(const Part&, const Part&) = default;
  };

  std::vector<std::string> terms;    // UTF-8, sorted by code point: Python's order of str
  std::vector<std::string> classes;  // alphabetical
  Part train, test;

  friend bool operator==(const TokenisedCorpus&, const TokenisedCorpus&) = default;
};

struct Text {
  std::string_view bytes;
  std::int32_t label = 0;
};

// Documents keep their order. The result does not depend on the number of threads.
[[nodiscard]] TokenisedCorpus tokenise(std::span<const Text> train, std::span<const Text> test,
                                       std::vector<std::string> classes, Encoding encoding, int threads = 1);

// The words of one text in their order, in UTF-8.
[[nodiscard]] std::vector<std::string> words(std::string_view text, Encoding encoding);

}  // namespace obolus
