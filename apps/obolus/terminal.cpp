#include "terminal.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>

namespace obolus::cli {
namespace {

std::size_t width(std::string_view s) {  // code points; our tables use no wide ones
  return static_cast<std::size_t>(std::count_if(s.begin(), s.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string padded(const std::string& s, std::size_t to, bool left) {
  const std::string space(to - std::min(to, width(s)), ' ');
  return left ? s + space : space + s;
}

volatile std::sig_atomic_t received = 0;

void note(int signal) {
  received = signal;
  struct sigaction standard{};
  standard.sa_handler = SIG_DFL;
  sigaction(signal, &standard, nullptr);
}

}  // namespace

Table::Table(std::vector<std::string> header, std::string alignment, std::size_t indent)
    : alignment_(std::move(alignment)), indent_(indent) {
  while (alignment_.size() < header.size()) alignment_ += alignment_.empty() ? 'l' : 'r';
  rows_.push_back(std::move(header));
}

void Table::row(std::vector<std::string> cells) {
  cells.resize(rows_.front().size());
  rows_.push_back(std::move(cells));
}

std::string Table::text() const {
  std::vector<std::size_t> widths(rows_.front().size());
  for (const auto& row : rows_)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  std::string out;
  const auto line = [&](const std::vector<std::string>& row) {
    std::string text(indent_, ' ');
    for (std::size_t i = 0; i < row.size(); ++i)
      text += (i ? "  " : "") + padded(row[i], widths[i], alignment_[i] == 'l');
    out += text.substr(0, text.find_last_not_of(' ') + 1) + '\n';
  };
  line(rows_.front());
  std::vector<std::string> rule;
  for (const std::size_t w : widths) {
    rule.emplace_back();
    for (std::size_t i = 0; i < w; ++i) rule.back() += "─";
  }
  line(rule);
  for (std::size_t i = 1; i < rows_.size(); ++i) line(rows_[i]);
  return out;
}

std::string Table::markdown() const {
  std::string out;
  const auto line = [&](const std::vector<std::string>& row) {
    for (const std::string& cell : row) out += "| " + cell + " ";
    out += "|\n";
  };
  line(rows_.front());
  for (const char a : alignment_) out += a == 'l' ? "|---" : "|---:";
  out += "|\n";
  for (std::size_t i = 1; i < rows_.size(); ++i) line(rows_[i]);
  return out;
}

std::string number(double v) { return fmt::format("{:.4g}", v); }

std::string count(std::int64_t n) {
  std::string digits = std::to_string(n);
  for (auto i = static_cast<std::ptrdiff_t>(digits.size()) - 3; i > (n < 0 ? 1 : 0); i -= 3)
    digits.insert(static_cast<std::size_t>(i), ",");
  return digits;
}

std::string duration(double seconds) {
  if (seconds < 1) return fmt::format("{:.0f} ms", seconds * 1000);
  if (seconds < 60) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 3600) return fmt::format("{}m {:02}s", whole / 60, whole % 60);
  return fmt::format("{}h {:02}m", whole / 3600, whole % 3600 / 60);
}

bool is_terminal(int descriptor) { return ::isatty(descriptor) == 1; }

Progress::Progress(std::string label, Round total, bool wanted)
    : label_(std::move(label)),
      total_(total),
      shown_(wanted && is_terminal(STDERR_FILENO)),
      start_(std::chrono::steady_clock::now()),
      last_(start_) {}

Progress::~Progress() {
  if (shown_) fmt::print(stderr, "\r\033[K");
}

void Progress::show(Round done, double regret) {
  if (!shown_) return;
  if (first_ < 0) first_ = done - 1;
  const auto now = std::chrono::steady_clock::now();
  if (std::chrono::duration<double>(now - last_).count() < 0.2) return;
  last_ = now;
  const double spent = std::chrono::duration<double>(now - start_).count();
  const double left =
      spent * static_cast<double>(total_ - done) / static_cast<double>(std::max<Round>(1, done - first_));
  fmt::print(stderr, "\r\033[K{}  round {} of {} ({}%)  regret {}  {} left", label_, count(done), count(total_),
             100 * done / total_, number(regret), duration(left));
  std::fflush(stderr);
}

Interruption::Interruption() {
  received = 0;
  struct sigaction action{};
  action.sa_handler = note;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

Interruption::~Interruption() {
  struct sigaction standard{};
  standard.sa_handler = SIG_DFL;
  sigaction(SIGINT, &standard, nullptr);
  sigaction(SIGTERM, &standard, nullptr);
}

int Interruption::signal() { return received; }
int Interruption::exit_code() { return received == SIGTERM ? 143 : 130; }

}  // namespace obolus::cli
