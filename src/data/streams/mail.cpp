#include "data/streams/mail.hpp"

#include <algorithm>
#include <cctype>
#include <map>

#include "data/streams/timestamp.hpp"

namespace obolus {
namespace {

constexpr std::size_t encoded_line = 60;  // most encoders break lines at 72 or 76

bool is_letter_or_digit(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

std::string_view next_line(std::string_view& rest) {
  const std::size_t end = rest.find('\n');
  std::string_view line = rest.substr(0, end);
  rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

bool looks_encoded(std::string_view line) {
  return line.size() >= encoded_line && std::all_of(line.begin(), line.end(), [](char c) {
           return is_letter_or_digit(c) || c == '+' || c == '/' || c == '=';
         });
}

// The name in lower case; empty if the line is not a header.
std::string header_name(std::string_view line) {
  std::string name(line.substr(0, line.find(':')));
  const bool plain = name.size() < line.size() &&
                     std::all_of(name.begin(), name.end(), [](char c) { return is_letter_or_digit(c) || c == '-'; });
  if (!plain) return {};
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  return name;
}

// Up to and including the first empty line.
std::map<std::string, std::string> headers_of(std::string_view& rest) {
  std::map<std::string, std::string> headers;
  std::string* open = nullptr;  // the header that a line with a leading blank continues
  while (!rest.empty()) {
    const std::string_view line = next_line(rest);
    if (line.empty()) break;
    if (line.front() == ' ' || line.front() == '\t') {
      if (open) open->append(line);
      continue;
    }
    const std::string name = header_name(line);
    open = nullptr;
    if (name.empty()) continue;
    const auto [entry, added] = headers.try_emplace(name, line.substr(name.size() + 1));
    if (added) open = &entry->second;
  }
  return headers;
}

}  // namespace

Mail mail_of(std::string_view text) {
  Mail mail;
  std::map<std::string, std::string> headers = headers_of(text);
  mail.subject = headers["subject"];
  mail.from = headers["from"];
  const std::string& hop = headers["received"];
  mail.received = mail_date(std::string_view(hop).substr(hop.rfind(';') + 1));  // npos + 1 is 0
  if (!mail.received) mail.received = mail_date(headers["date"]);
  mail.body.reserve(text.size());
  while (!text.empty()) {
    const std::string_view line = next_line(text);
    if (!looks_encoded(line)) mail.body.append(line) += '\n';
  }
  return mail;
}

}  // namespace obolus
