#include "data/rows/arff_header.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "data/rows/arff_text.hpp"

namespace obolus {
namespace {

std::string lowered(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

void read_values(ArffText& text, ArffAttribute& attribute) {
  attribute.column.role = ColumnRole::categorical;
  auto& values = attribute.column.values;
  std::string value;
  bool quoted = false;
  do {
    if (!text.word(value, quoted)) text.refuse("a value");
    if (values.empty()) attribute.first_value = value;
    values.push_back(value);
    (void)text.at_end();
  } while (text.take(','));
  if (!text.take('}')) text.refuse("a comma or }");
  std::sort(values.begin(), values.end());
  if (const auto twice = std::adjacent_find(values.begin(), values.end()); twice != values.end())
    text.refuse(fmt::format("each value once: {} appears again", shown(*twice)));
}

ArffAttribute read_attribute(ArffText& text) {
  ArffAttribute attribute;
  bool quoted = false;
  if (!text.word(attribute.column.name, quoted)) text.refuse("an attribute's name");
  if (text.at_end()) text.refuse("an attribute's type: numeric, real, integer, string or {…}");
  if (text.take('{')) {
    read_values(text, attribute);
  } else {
    ArffText before = text;
    std::string type;
    if (!text.word(type, quoted)) text.refuse("an attribute's type: numeric, real, integer, string or {…}");
    type = lowered(type);
    if (type == "string") attribute.column.role = ColumnRole::categorical;
    else if (type == "date" || type == "relational")
      before.refuse(fmt::format("numeric, real, integer, string or {{…}}: {} attributes are not supported", type));
    else if (type != "numeric" && type != "real" && type != "integer")
      before.refuse("an attribute's type: numeric, real, integer, string or {…}");
  }
  if (!text.at_end()) text.refuse("the end of the line");
  return attribute;
}

}  // namespace

std::vector<ArffAttribute> arff_header(LineSource& lines) {
  std::vector<ArffAttribute> attributes;
  std::string_view line;
  std::string keyword;
  while (lines.next(line)) {
    ArffText text(lines, line);
    if (text.at_end()) continue;
    ArffText before = text;
    bool quoted = false;
    (void)text.word(keyword, quoted);
    keyword = lowered(keyword);
    if (keyword == "@attribute") attributes.push_back(read_attribute(text));
    else if (keyword == "@data" && attributes.empty()) before.refuse("an @attribute before it");
    else if (keyword == "@data") return attributes;
    else if (keyword != "@relation") before.refuse("@relation, @attribute or @data");
  }
  throw DataError(fmt::format("{}:{}:1: got the end of the file, expected @data", lines.name(), lines.number() + 1));
}

}  // namespace obolus
