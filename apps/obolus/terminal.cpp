#include "terminal.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>

namespace obolus::cli {
namespace {

volatile std::sig_atomic_t received = 0;

void note(int signal) {
  received = signal;
  struct sigaction standard{};
  standard.sa_handler = SIG_DFL;
  sigaction(signal, &standard, nullptr);
}

}  // namespace

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

void Progress::show(Round done, const char* quantity, double value) {
  if (!shown_) return;
  if (first_ < 0) first_ = done - 1;
  const auto now = std::chrono::steady_clock::now();
  if (std::chrono::duration<double>(now - last_).count() < 0.2) return;
  last_ = now;
  const double spent = std::chrono::duration<double>(now - start_).count();
  const double left =
      spent * static_cast<double>(total_ - done) / static_cast<double>(std::max<Round>(1, done - first_));
  fmt::print(stderr, "\r\033[K{}  round {} of {} ({}%)  {} {}  {} left", label_, count(done), count(total_),
             100 * done / total_, quantity, number(value), duration(left));
  std::fflush(stderr);
}

JobProgress::JobProgress(std::string label, bool wanted)
    : label_(std::move(label)), shown_(wanted && is_terminal(STDERR_FILENO)) {}

JobProgress::~JobProgress() {
  if (shown_) fmt::print(stderr, "\r\033[K");
}

void JobProgress::show(std::size_t done, std::size_t total) {
  if (!shown_) return;
  const auto now = std::chrono::steady_clock::now();
  if (!begun_) begun_ = true, first_ = done, start_ = now;
  else if (std::chrono::duration<double>(now - last_).count() < 0.2) return;
  last_ = now;
  const double spent = std::chrono::duration<double>(now - start_).count();
  const std::string left = done == first_
                               ? std::string()
                               : fmt::format("  {} left", duration(spent * static_cast<double>(total - done) /
                                                                   static_cast<double>(done - first_)));
  fmt::print(stderr, "\r\033[K{}  {} of {} cells{}", label_, count(static_cast<std::int64_t>(done)),
             count(static_cast<std::int64_t>(total)), left);
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
