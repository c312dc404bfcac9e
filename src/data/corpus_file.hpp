// A tokenised corpus as one file: a head (magic, version, checksum), then numbers of seven bits a byte. Terms keep only
// what differs from the one before, documents the gaps between their terms.
#pragma once

#include <string>
#include <string_view>

#include "obolus/data/text.hpp"

namespace obolus {

[[nodiscard]] std::string to_bytes(const TokenisedCorpus& corpus);
// Throws DataError, which begins with `name`, when the bytes are not those of a whole corpus of this version.
[[nodiscard]] TokenisedCorpus corpus_of_bytes(std::string_view bytes, const std::string& name);

void save_corpus(const std::string& path, const TokenisedCorpus& corpus);  // atomically; makes the folder if need be
[[nodiscard]] TokenisedCorpus load_corpus(const std::string& path);

}  // namespace obolus
