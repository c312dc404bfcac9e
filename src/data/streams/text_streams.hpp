// Real streams of text with class labels, each out of a package that carries it, as rows of Vowpal Wabbit's format in
// $OBOLUS_DATA/NAME.vw; NAME.classes beside it says what the numbers of the classes mean. docs/streams.md describes them.
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

  // All rows in the stream's order. Throws DataError unless the archive holds the files with this digest, if there is one.
  std::string (*rows)(const ArchiveSource& source, const std::string& digest);
};

[[nodiscard]] const std::vector<TextStream>& text_streams();
[[nodiscard]] const TextStream* text_stream_named(std::string_view name);  // null: there is none

[[nodiscard]] std::string rows_path(const TextStream& stream);
void save_rows(const TextStream& stream, std::string_view rows);  // and the classes; makes the folder if need be
// Its path once it is there; otherwise throws a DataError with the command that brings it.
[[nodiscard]] std::string kept_rows_path(const TextStream& stream);

[[nodiscard]] std::string spam_assassin_rows(const ArchiveSource& source, const std::string& digest);
[[nodiscard]] std::string reuters_rows(const ArchiveSource& source, const std::string& digest);
[[nodiscard]] std::string imdb_rows(const ArchiveSource& source, const std::string& digest);
[[nodiscard]] const std::vector<std::string>& reuters_topics();  // those that are classes of their own

}  // namespace obolus
