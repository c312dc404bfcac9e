#include "row_flags.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "config/generator_settings.hpp"
#include "config/option_text.hpp"
#include "data/generators/generated_reader.hpp"
#include "data/rows/open_rows.hpp"
#include "obolus/core/error.hpp"

namespace obolus::cli {
namespace {

constexpr const char* input = "Rows";

std::string quoted_list(const std::vector<std::string>& list) {
  std::string text;
  for (const std::string& item : list) text += (text.empty() ? "" : ", ") + config::quoted_text(item);
  return "[" + text + "]";
}

// Between commas; those within brackets are part of a list.
std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words(1);
  int depth = 0;
  for (const char c : text) {
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (c == ',' && depth == 0) words.emplace_back();
    else words.back() += c;
  }
  return words;
}

}  // namespace

void RowFlags::add(CLI::App& verb, bool labelled) {
  verb.add_option("data", files, "files of rows, one after the other; - is standard input. gzip and zstd are unpacked");
  const auto group = [](CLI::Option* option) { option->group(input); };
  group(verb.add_option("--format", format, "of the rows; auto: by the file's name, then by its first line")
            ->check(CLI::IsMember({"auto", "svmlight", "csv", "arff", "vw"}))
            ->capture_default_str());
  group(verb.add_option(
      "--label", options.label,
      labelled ? "CSV, ARFF: the label's column, by name or position (1 the first, -1 the last); default: the last"
               : "CSV, ARFF: a column to leave out, the label's if the file has one"));
  group(verb.add_option("--weight", options.weight, "CSV, ARFF: the column of the rows' weights"));
  group(verb.add_option("--ignore", options.ignore, "CSV, ARFF: columns to leave out")
            ->delimiter(',')
            ->allow_extra_args(false));
  group(verb.add_option("--numeric", options.numeric, "CSV: columns that are numbers, whatever the first rows say")
            ->delimiter(',')
            ->allow_extra_args(false));
  group(verb.add_option("--categorical", options.categorical, "CSV: columns that are categories")
            ->delimiter(',')
            ->allow_extra_args(false));
  group(verb.add_option("--header", header, "CSV: whether the first line names the columns")
            ->check(CLI::IsMember({"auto", "yes", "no"}))
            ->capture_default_str());
  group(verb.add_option("--delimiter", delimiter,
                        "CSV: one character, or tab; default: what the first line has most of"));
  group(verb.add_option("--missing", options.missing, "CSV: texts that stand for a missing value")
            ->delimiter(',')
            ->allow_extra_args(false));
  group(
      verb.add_option("--index-base", index_base, "svmlight: the first feature's index; auto: 0 if one has it, else 1")
          ->check(CLI::IsMember({"auto", "0", "1"}))
          ->capture_default_str());
  group(verb.add_option("--skip-bad", options.skip_bad,
                        "so many bad rows are counted and skipped; the next one is the error")
            ->capture_default_str());
}

void RowFlags::settle() {
  if (files.empty() && generate.empty())
    throw ConfigError("got no rows, expected files, - for standard input, or --generate; see --help");
  if (!files.empty() && !generate.empty()) throw ConfigError("--generate: got files, too, expected one of them");
  if (std::count(files.begin(), files.end(), "-") > 0 && files.size() > 1)
    throw ConfigError("got - among other files, expected it alone: a stream of rows has one end");
  options.format = format == "svmlight" ? RowFormat::svmlight
                   : format == "csv"    ? RowFormat::csv
                   : format == "arff"   ? RowFormat::arff
                   : format == "vw"     ? RowFormat::vowpal_wabbit
                                        : RowFormat::automatic;
  options.index_base = index_base == "0" ? IndexBase::zero : index_base == "1" ? IndexBase::one : IndexBase::automatic;
  options.header = header == "yes" ? Header::yes : header == "no" ? Header::no : Header::automatic;
  if (delimiter == "tab" || delimiter == "\\t") delimiter = "\t";
  if (delimiter.size() > 1)
    throw ConfigError(fmt::format("--delimiter: got '{}', expected one character, or tab", delimiter));
  if (!delimiter.empty()) options.delimiter = delimiter[0];
}

bool RowFlags::can_be_read_again() const { return files.empty() || files.front() != "-"; }

std::unique_ptr<RowReader> RowFlags::open() const {
  if (generate.empty()) return open_rows(files, options);
  const std::vector<std::string> words = words_of(generate);
  return read_generated(generator_with(words.front(), {words.begin() + 1, words.end()}));
}

std::unique_ptr<RowReader> RowFlags::open_validation() const {
  return validation.empty() ? nullptr : open_rows(validation, options);
}

std::string RowFlags::name() const {
  if (!generate.empty()) return generate.substr(0, generate.find(','));
  if (files.front() == "-") return "stdin";
  std::filesystem::path path(files.front());
  if (path.extension() == ".gz" || path.extension() == ".zst") path = path.stem();
  return path.stem().string();
}

std::string RowFlags::echo() const {
  std::string text = "data = " + quoted_list(files) + "\n";
  if (!generate.empty()) text += "generate = " + config::quoted_text(generate) + "\n";
  if (!validation.empty()) text += "validation = " + config::quoted_text(validation) + "\n";
  text += fmt::format("format = \"{}\"\nindex_base = \"{}\"\nheader = \"{}\"\ndelimiter = {}\n", format, index_base,
                      header, config::quoted_text(delimiter));
  text += fmt::format(
      "label = {}\nweight = {}\nignore = {}\nnumeric = {}\ncategorical = {}\nmissing = {}\nskip_bad = {}\n",
      config::quoted_text(options.label), config::quoted_text(options.weight), quoted_list(options.ignore),
      quoted_list(options.numeric), quoted_list(options.categorical), quoted_list(options.missing), options.skip_bad);
  return text;
}

}  // namespace obolus::cli
