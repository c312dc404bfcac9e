// A tokenised corpus as one file: a head (magic, version, checksum), then numbers in seven bits per byte. A term stores
// what differs from the term before it, a document the gaps between its terms.
#pragma once

#include <string>
#include <string_view>

#include "obolus/data/text.hpp"

namespace obolus {

[[nodiscard]] std::string to_bytes(const TokenisedCorpus& corpus);
// Throws DataError, which begins with `name`, unless the bytes are a whole corpus of this version.
[[nodiscard]] TokenisedCorpus corpus_of_bytes(std::string_view bytes, const std::string& name);

void save_corpus(const std::string& path, const TokenisedCorpus& corpus);  // atomically; creates the folder if needed
[[nodiscard]] TokenisedCorpus load_corpus(const std::string& path);

}  // namespace obolus
