#include "terminal.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>

#include "keys.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus::cli {
namespace {

volatile std::sig_atomic_t received = 0;

void end_at_once(int signal) {
  restore_terminal();
  ::raise(signal);  // SA_RESETHAND: it ends the program now
}

void note(int signal) {
  received = signal;
  struct sigaction second{};
  second.sa_handler = end_at_once;
  second.sa_flags = SA_RESETHAND;
  sigemptyset(&second.sa_mask);
  sigaction(signal, &second, nullptr);
}

// In characters, not bytes.
std::size_t width(const std::string& text) {
  return to_size(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::size_t terminal_width() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

bool is_terminal(int descriptor) { return ::isatty(descriptor) == 1; }

std::string without_heading(const Table& table) {
  const std::string text = table.text();
  return text.substr(text.find('\n', text.find('\n') + 1) + 1);  // the heading and the rule below it
}

void Pace::begin(std::int64_t done) {
  if (begun_) return;
  begun_ = true;
  first_ = done;
  start_ = Clock::now();
  lost_ = {};
}

void Pace::pause(bool on) {
  if (on == paused_) return;
  paused_ = on;
  if (on) pause_ = Clock::now();
  else lost_ += Clock::now() - pause_;
}

double Pace::seconds() const {
  return std::chrono::duration<double>((paused_ ? pause_ : Clock::now()) - start_ - lost_).count();
}

std::optional<double> Pace::remaining(std::int64_t done, std::int64_t of) const {
  if (done <= first_) return std::nullopt;
  return seconds() * static_cast<double>(of - done) / static_cast<double>(done - first_);
}

ProgressLine::ProgressLine(std::string label, bool wanted, bool keys)
    : label_(std::move(label)), shown_(wanted && is_terminal(STDERR_FILENO)), keys_(keys) {}

ProgressLine::~ProgressLine() {
  if (shown_) fmt::print(stderr, "\r\033[K");
}

bool ProgressLine::due(const Pace& pace) {
  const auto now = std::chrono::steady_clock::now();
  if (!shown_ || (now - last_ < std::chrono::milliseconds(200) && pace.paused() == paused_)) return false;
  last_ = now;
  paused_ = pace.paused();
  return true;
}

void ProgressLine::write(const std::string& text, const Pace& pace, std::optional<double> left) {
  std::string line = label_ + "  " + text;
  if (pace.paused()) line += "  paused";
  else if (left) line += fmt::format("  {} left", duration(*left));
  const std::string hint = pace.paused() ? "  p resumes, q stops" : "  p pauses, q stops";
  if (keys_ && width(line) + hint.size() < terminal_width()) line += hint;
  fmt::print(stderr, "\r\033[K{}", line);
  std::fflush(stderr);
}

Progress::Progress(std::string label, Round total, bool wanted, bool keys)
    : total_(total), line_(std::move(label), wanted, keys) {}

void Progress::show(Round done, const char* quantity, double value) {
  pace_.begin(done);
  if (!line_.due(pace_)) return;
  line_.write(fmt::format("round {} of {} ({}%)  {} {}", count(done), count(total_), 100 * done / total_, quantity,
                          number(value)),
              pace_, pace_.remaining(done, total_));
}

JobProgress::JobProgress(std::string label, bool wanted, bool keys) : line_(std::move(label), wanted, keys) {}

void JobProgress::show(std::size_t done, std::size_t total) {
  const auto n = static_cast<std::int64_t>(done), of = static_cast<std::int64_t>(total);
  pace_.begin(n);
  if (!line_.due(pace_)) return;
  line_.write(fmt::format("{} of {} cells", count(n), count(of)), pace_, pace_.remaining(n, of));
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
