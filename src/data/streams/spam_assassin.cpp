// The SpamAssassin public mail corpus: files GROUP/NUMBER.DIGEST.txt, of three groups of ham and two of spam.
//
// Only the headers Subject and From are kept. The others reveal how the corpus was gathered: ham and spam came through
// different hosts.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "data/streams/mail.hpp"
#include "data/streams/pinned_files.hpp"
#include "data/streams/text_row.hpp"
#include "data/streams/text_streams.hpp"
#include "obolus/core/error.hpp"

namespace obolus {
namespace {

constexpr std::array<std::string_view, 5> groups{"easy-ham-1", "easy-ham-2", "hard-ham-1", "spam-1", "spam-2"};

std::string_view group_of(std::string_view name) { return name.substr(0, name.find('/')); }

std::string_view mail_within(std::string_view path) {
  const std::string_view name = end_of_path(path, 2);
  const bool known = std::find(groups.begin(), groups.end(), group_of(name)) != groups.end();
  return known && name.find('/') != name.npos && name.ends_with(".txt") ? name : std::string_view();
}

struct DatedRow {
  double received;
  std::string row;
};

}  // namespace

std::string spam_assassin_rows(const ArchiveSource& source, const std::string& digest) {
  std::vector<DatedRow> rows;
  for (const PinnedFile& file : pinned_files(source, {.digest = digest, .name_within = mail_within})) {
    const Mail mail = mail_of(file.content);
    if (!mail.received)
      throw DataError(
          fmt::format("{}: {:?}: got a mail without a date, expected one in Received or Date", source.name, file.name));
    const std::array<TextPart, 3> parts{{{"subject", mail.subject}, {"from", mail.from}, {"body", mail.body}}};
    const std::string_view tag = std::string_view(file.name).substr(0, file.name.find('.'));
    const int label = group_of(file.name).starts_with("spam") ? 2 : 1;
    rows.push_back({*mail.received, text_row(label, tag, parts, Encoding::latin1)});
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const DatedRow& a, const DatedRow& b) { return a.received < b.received; });
  std::string all;
  for (const DatedRow& row : rows) all += row.row;
  return all;
}

}  // namespace obolus
