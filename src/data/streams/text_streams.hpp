// Real streams of labelled text, each from a package that contains it, as Vowpal Wabbit rows in $OBOLUS_DATA/NAME.vw;
// NAME.classes beside it names the classes. docs/streams.md describes them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/archive_documents.hpp"

namespace obolus {

struct TextStream {
  std::string name, title, order, licence;
  std::string package;               // npm's, NAME@VERSION
  std::string digest;                // of its files: pinned_files.hpp
  std::vector<std::string> classes;  // 1, 2, …

  // All rows in the stream's order. Throws DataError unless the archive's files have this digest (empty: any).
  std::string (*rows)(const ArchiveSource& source, const std::string& digest);
};

[[nodiscard]] const std::vector<TextStream>& text_streams();
[[nodiscard]] const TextStream* text_stream_named(std::string_view name);  // null if there is none

[[nodiscard]] std::string rows_path(const TextStream& stream);
void save_rows(const TextStream& stream, std::string_view rows);  // and the classes; creates the folder if needed
// The path of the rows. Throws a DataError, with the command that fetches them, if there are none.
[[nodiscard]] std::string kept_rows_path(const TextStream& stream);

[[nodiscard]] std::string spam_assassin_rows(const ArchiveSource& source, const std::string& digest);
[[nodiscard]] std::string reuters_rows(const ArchiveSource& source, const std::string& digest);
[[nodiscard]] std::string imdb_rows(const ArchiveSource& source, const std::string& digest);
[[nodiscard]] const std::vector<std::string>& reuters_topics();  // those with a class of their own

}  // namespace obolus
