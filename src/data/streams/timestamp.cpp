#include "data/streams/timestamp.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <string>
#include <utility>

namespace obolus {
namespace {

constexpr std::array<std::string_view, 12> months{"jan", "feb", "mar", "apr", "may", "jun",
                                                  "jul", "aug", "sep", "oct", "nov", "dec"};

std::string lowered(std::string_view text) {
  std::string low(text);
  std::transform(low.begin(), low.end(), low.begin(), [](unsigned char c) { return std::tolower(c); });
  return low;
}

// Consumes what it recognises from the front.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : rest_(text) {}

  bool blanks() {
    const std::size_t first = std::min(rest_.find_first_not_of(" \t"), rest_.size());
    rest_.remove_prefix(first);
    return true;
  }
  bool mark(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool digits(int& value, std::size_t max) {
    const std::size_t size = std::min({rest_.find_first_not_of("0123456789"), rest_.size(), max});
    if (size == 0) return false;
    value = 0;
    for (const char c : rest_.substr(0, size)) value = 10 * value + (c - '0');
    rest_.remove_prefix(size);
    return true;
  }
  std::string letters() {
    std::size_t size = 0;
    while (size < rest_.size() && std::isalpha(static_cast<unsigned char>(rest_[size])) != 0) ++size;
    std::string word = lowered(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return word;
  }
  bool month(int& value) {
    const auto found = std::find(months.begin(), months.end(), letters());
    value = static_cast<int>(found - months.begin()) + 1;
    return found != months.end();
  }

 private:
  std::string_view rest_;
};

struct Civil {
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, hundredths = 0;

  [[nodiscard]] std::optional<double> seconds() const {
    const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                           std::chrono::day(static_cast<unsigned>(day))};
    if (!date.ok() || year < 1900 || hour > 23 || minute > 59 || second > 60) return std::nullopt;
    const double days = static_cast<double>(std::chrono::sys_days(date).time_since_epoch().count());
    return 86400 * days + 3600 * hour + 60 * minute + second + 0.01 * hundredths;
  }
};

// Minutes east of UTC.
int zone_of(Cursor& at) {
  const bool east = at.mark('+');
  int number = 0;
  if ((east || at.mark('-')) && at.digits(number, 4)) return (east ? 1 : -1) * (60 * (number / 100) + number % 100);
  constexpr std::array<std::pair<std::string_view, int>, 8> names{
      {{"est", -5}, {"edt", -4}, {"cst", -6}, {"cdt", -5}, {"mst", -7}, {"mdt", -6}, {"pst", -8}, {"pdt", -7}}};
  const std::string name = at.letters();
  for (const auto& [zone, hours] : names)
    if (name == zone) return 60 * hours;
  return 0;
}

}  // namespace

std::optional<double> mail_date(std::string_view text) {
  Cursor at(text);
  Civil c;
  at.blanks();
  if (!at.letters().empty()) at.mark(',');
  const bool date =
      at.blanks() && at.digits(c.day, 2) && at.blanks() && at.month(c.month) && at.blanks() && at.digits(c.year, 4);
  const bool time = date && at.blanks() && at.digits(c.hour, 2) && at.mark(':') && at.digits(c.minute, 2);
  if (!time || (at.mark(':') && !at.digits(c.second, 2))) return std::nullopt;
  if (c.year < 100) c.year += c.year < 50 ? 2000 : 1900;
  at.blanks();
  const int zone = zone_of(at);
  const auto seconds = c.seconds();
  if (!seconds) return std::nullopt;
  return *seconds - 60 * zone;
}

std::optional<double> wire_date(std::string_view text) {
  Cursor at(text);
  Civil c;
  const bool date =
      at.blanks() && at.digits(c.day, 2) && at.mark('-') && at.month(c.month) && at.mark('-') && at.digits(c.year, 4);
  const bool time = date && at.blanks() && at.digits(c.hour, 2) && at.mark(':') && at.digits(c.minute, 2) &&
                    at.mark(':') && at.digits(c.second, 2) && at.mark('.') && at.digits(c.hundredths, 2);
  if (!time) return std::nullopt;
  return c.seconds();
}

}  // namespace obolus
