// The 20 Newsgroups corpus, split by date: 11,314 documents to train on and 7,532 to test with, headers and all.
// `obolus data get 20news` fetches it once and keeps it tokenised.
#pragma once

#include <string>

#include "obolus/data/text.hpp"

namespace obolus {

// $OBOLUS_DATA, or else $XDG_CACHE_HOME/obolus, or else ~/.cache/obolus. Throws ConfigError if none is set.
[[nodiscard]] std::string data_folder();
[[nodiscard]] std::string newsgroups_path();  // the file in it

// Class by class in alphabetical order, documents by name: the order of scikit-learn's load_files without its shuffle.
// Throws DataError, with the command that fetches it, if the corpus is absent or damaged.
[[nodiscard]] TokenisedCorpus load_newsgroups();

}  // namespace obolus
