#include "report/markdown_tables.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

namespace obolus {
namespace {

using Json = nlohmann::ordered_json;

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(' '), last = text.find_last_not_of(' ');
  return first == std::string::npos ? std::string() : text.substr(first, last - first + 1);
}

// "| a | b \| c |" → a, b | c
std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> out;
  std::string cell;
  for (std::size_t i = 1; i < line.size(); ++i) {
    if (line[i] == '\\' && i + 1 < line.size() && line[i + 1] == '|') {
      cell += line[++i];
    } else if (line[i] == '|') {
      out.push_back(trimmed(cell));
      cell.clear();
    } else {
      cell += line[i];
    }
  }
  return out;
}

bool is_rule(const std::string& line) { return line.find_first_not_of("|-:") == std::string::npos; }

std::string alignment(const std::string& rule) {
  std::string out;
  for (const std::string& cell : cells(rule)) out += cell.ends_with(':') ? 'r' : 'l';
  return out;
}

}  // namespace

Json markdown_tables(const std::string& text) {
  Json tables = Json::array();
  std::istringstream lines(text);
  std::string title;
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('#')) title = trimmed(line.substr(std::min(line.size(), line.find_first_not_of('#'))));
    const bool row = line.starts_with('|');
    if (row && !inside)
      tables.push_back({{"title", title}, {"header", cells(line)}, {"align", ""}, {"rows", Json::array()}});
    else if (row && is_rule(line) && tables.back()["align"].get_ref<const std::string&>().empty())
      tables.back()["align"] = alignment(line);
    else if (row) tables.back()["rows"].push_back(cells(line));
    inside = row;
  }
  return tables;
}

}  // namespace obolus
