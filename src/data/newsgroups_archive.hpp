// 20 Newsgroups out of its archive, counted while it is unpacked.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/archive_documents.hpp"
#include "obolus/data/text.hpp"

namespace obolus {

// What identifies the corpus: the number of documents in each class, and a digest of all names and contents. The digest
// is the SHA-256 of, for each document of train, then of test: "train/CLASS/NAME" or "test/…", a 0 byte, and the 32
// bytes of the SHA-256 of its content. How the files are packed does not matter.
struct CorpusIdentity {
  std::vector<std::int64_t> train, test;
  std::string digest;  // hexadecimal; empty: not checked
};
[[nodiscard]] const CorpusIdentity& newsgroups_identity();

// Expects files …/20news-bydate-train/CLASS/NAME and …-test/…; skips hidden ones and refuses any other. Throws
// DataError unless everything is as expected.
[[nodiscard]] TokenisedCorpus newsgroups_of_archive(const ArchiveSource& source, int threads,
                                                    const CorpusIdentity& expected = newsgroups_identity(),
                                                    const ArchiveLimits& limits = {});

}  // namespace obolus
