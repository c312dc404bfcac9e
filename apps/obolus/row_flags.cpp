#include "row_flags.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "config/generator_settings.hpp"
#include "config/option_text.hpp"
#include "data/generators/generated_reader.hpp"
#include "data/rows/open_rows.hpp"
#include "data/rows/row_format.hpp"
#include "obolus/core/error.hpp"
#include "option_flags.hpp"

namespace obolus::cli {
namespace {

constexpr const char* group = "Rows";

using List = std::vector<std::string>;

std::string text_of(const List& list) {
  std::string text;
  for (const std::string& item : list) text += (text.empty() ? "" : ", ") + config::quoted_text(item);
  return "[" + text + "]";
}
std::string text_of(char c) { return config::quoted_text(c == 0 ? std::string() : std::string(1, c)); }
template <class T>
std::string text_of(const T& value) {
  return config::value_text(value);
}

std::string type_of(const List&) { return "list"; }
std::string type_of(char) { return "character"; }
template <class T>
std::string type_of(const T&) {
  return config::type_text<T>();
}

Flag* add_flag(Verb& verb, const std::string& flag, List& value, const std::string& help) {
  return verb.add_option(flag, value, help)->one_value(',');
}
Flag* add_flag(Verb& verb, const std::string& flag, char& value, const std::string& help) {
  const auto take = [&value, flag](std::string text) {
    if (text == "tab" || text == "\\t") text = "\t";
    if (text.size() > 1) refuse_value(flag, fmt::format("got '{}', expected one character, or tab", text));
    if (!text.empty()) value = text[0];
  };
  return verb.add_option_function(flag, take, help)->type_name("CHARACTER");
}
Flag* add_flag(Verb& verb, const std::string& flag, std::uint64_t& value, const std::string& help) {
  return verb.add_option(flag, value, help)->capture_default_str();
}
Flag* add_flag(Verb& verb, const std::string& flag, std::string& value, const std::string& help) {
  if (flag != "--format") return verb.add_option(flag, value, help);
  return add_choice(verb, flag, row_format_names(), value, help, [&value](const std::string& name) { value = name; });
}
template <class E>
Flag* add_flag(Verb& verb, const std::string& flag, E& value, const std::string& help) {
  return add_enum(verb, flag, value, help);
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

void RowFlags::add(Verb& verb, bool labelled) {
  verb.add_option("data", files,
                  "files of rows, read one after the other; - is standard input; gzip and zstd are unpacked");
  options.labelled = labelled;
  options.describe([&](std::string_view name, auto& value, std::string_view help) {
    const std::string formats = titles_of_formats(name);
    add_flag(verb, flag_of(name), value, (formats.empty() ? "" : formats + ": ") + std::string(help))->group(group);
  });
}

void RowFlags::settle() {
  if (files.empty() && generate.empty())
    throw ConfigError("got no rows, expected files, - for standard input, or --generate; see --help");
  if (!files.empty() && !generate.empty())
    throw ConfigError("--generate: got files as well, expected one or the other");
  if (std::count(files.begin(), files.end(), "-") > 0 && files.size() > 1)
    throw ConfigError("got - among other files, expected it alone: a stream of rows has one end");
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
  return std::filesystem::path(without_packing(files.front())).stem().string();
}

std::string RowFlags::echo() const {
  std::string text = "data = " + text_of(files) + "\n";
  if (!generate.empty()) text += "generate = " + config::quoted_text(generate) + "\n";
  if (!validation.empty()) text += "validation = " + config::quoted_text(validation) + "\n";
  RowOptions copy = options;
  copy.describe([&](std::string_view name, const auto& value, std::string_view) {
    text += fmt::format("{} = {}\n", name, text_of(value));
  });
  return text;
}

std::vector<Listing> list_formats() {
  std::vector<Listing> list;
  for (const RowFormat& format : row_formats()) {
    Listing& listing = list.emplace_back();
    listing.name = format.name;
    listing.title = fmt::format("{}: {}", format.title, format.summary);
    listing.citation = fmt::format("by default for files that end in {}", fmt::join(format.endings, ", "));
    RowOptions options;
    options.describe([&](std::string_view name, const auto& value, std::string_view help) {
      if (std::find(format.options.begin(), format.options.end(), name) != format.options.end())
        listing.options.push_back({flag_of(name), type_of(value), text_of(value), {}, std::string(help)});
    });
  }
  return list;
}

}  // namespace obolus::cli
