// 20 Newsgroups out of its archive, counted while it is unpacked.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/archive_documents.hpp"
#include "obolus/data/text.hpp"

namespace obolus {

// What tells the corpus from any other: documents of each class, and a digest of all names and contents. The digest is
// the SHA-256 of, for the documents of train, then of test, in order: "train/CLASS/NAME" or "test/…", a 0 byte, and the
// 32 bytes of the SHA-256 of the content. How they were packed does not matter.
struct CorpusIdentity {
  std::vector<std::int64_t> train, test;
  std::string digest;  // hexadecimal; empty: not looked at
};
[[nodiscard]] const CorpusIdentity& newsgroups_identity();

// Files are looked for as …/20news-bydate-train/CLASS/NAME and …-test/…; hidden ones are passed over, any other file is
// refused. Throws DataError unless all is as expected.
[[nodiscard]] TokenisedCorpus newsgroups_of_archive(const ArchiveSource& source, int threads,
                                                    const CorpusIdentity& expected = newsgroups_identity(),
                                                    const ArchiveLimits& limits = {});

}  // namespace obolus
