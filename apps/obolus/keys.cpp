#include "keys.hpp"

#include <poll.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <thread>

#include "terminal.hpp"

namespace obolus::cli {
namespace {

using namespace std::chrono_literals;

// Handlers see these; `known` is set once `before` is.
volatile std::sig_atomic_t known = 0;
termios before;  // the terminal in line mode

bool in_front() { return ::tcgetpgrp(STDIN_FILENO) == ::getpgrp(); }

// A process that has just been sent to the background must not be stopped for touching the terminal.
class Unstopped {
 public:
  Unstopped() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTTOU);
    sigaddset(&set, SIGTTIN);
    ::pthread_sigmask(SIG_BLOCK, &set, &mask_);
  }
  ~Unstopped() { ::pthread_sigmask(SIG_SETMASK, &mask_, nullptr); }
  Unstopped(const Unstopped&) = delete;
  Unstopped& operator=(const Unstopped&) = delete;

 private:
  sigset_t mask_;
};

// Called repeatedly: a shell that resumes the program or brings it to the foreground sets the terminal its own way.
void take_terminal() {
  termios now;
  if (!in_front() || ::tcgetattr(STDIN_FILENO, &now) != 0 || (now.c_lflag & ICANON) == 0) return;
  before = now;
  known = 1;
  now.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);  // ISIG stays: Ctrl-C and Ctrl-Z work as usual
  now.c_cc[VMIN] = 1;
  now.c_cc[VTIME] = 0;
  ::tcsetattr(STDIN_FILENO, TCSANOW, &now);
}

// A pager reads keys itself.
bool feeds_a_pipe() {
  struct stat out{};
  return ::fstat(STDOUT_FILENO, &out) == 0 && S_ISFIFO(out.st_mode);
}

constexpr int deadly[] = {SIGHUP, SIGQUIT, SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};

void set_handler(int signal, void (*handler)(int), int flags) {
  struct sigaction action{}, old{};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigemptyset(&action.sa_mask);
  // Replace neither a sanitizer's handler nor the SIG_IGN that nohup or a shell without job control has set.
  if (handler != SIG_DFL && ::sigaction(signal, nullptr, &old) == 0 && old.sa_handler != SIG_DFL) return;
  ::sigaction(signal, &action, nullptr);
}

void die(int signal) {
  restore_terminal();
  ::raise(signal);  // SA_RESETHAND: now it has its default effect
}

void stop(int signal) {
  const int error = errno;
  restore_terminal();
  set_handler(signal, SIG_DFL, 0);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  ::raise(signal);
  ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);  // stops here until SIGCONT
  set_handler(signal, stop, SA_RESTART);
  errno = error;
}

void handle_signals() {
  for (const int signal : deadly) set_handler(signal, die, SA_RESETHAND);
  set_handler(SIGTSTP, stop, SA_RESTART);
}

void leave_signals() {
  const auto ours = [](int signal, void (*handler)(int)) {
    struct sigaction now{};
    if (::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == handler) set_handler(signal, SIG_DFL, 0);
  };
  for (const int signal : deadly) ours(signal, die);
  ours(SIGTSTP, stop);
}

}  // namespace

void restore_terminal() {
  termios now;
  if (!known) return;
  const Unstopped unstopped;
  if (in_front() && ::tcgetattr(STDIN_FILENO, &now) == 0 && (now.c_lflag & ICANON) == 0)
    ::tcsetattr(STDIN_FILENO, TCSANOW, &before);
}

Keys::Keys() : there_(is_terminal(STDIN_FILENO) && is_terminal(STDERR_FILENO) && !feeds_a_pipe()) {
  if (!there_) return;
  handle_signals();
  const Unstopped unstopped;
  take_terminal();
}

Keys::~Keys() {
  restore_terminal();
  leave_signals();
}

void Keys::look() {
  const auto now = std::chrono::steady_clock::now();
  if (!there_ || now - looked_ < 50ms) return;
  looked_ = now;
  read();
}

void Keys::wait(std::chrono::milliseconds patience) {
  if (!there_ || !in_front()) std::this_thread::sleep_for(patience);
  if (!there_) return;
  pollfd input{STDIN_FILENO, POLLIN, 0};
  if (in_front()) ::poll(&input, 1, static_cast<int>(patience.count()));
  read();
}

void Keys::read() {
  const Unstopped unstopped;
  if (!in_front()) return;  // what is typed is for another program
  take_terminal();
  pollfd input{STDIN_FILENO, POLLIN, 0};
  while (::poll(&input, 1, 0) == 1) {
    char key = 0;
    const ssize_t got = ::read(STDIN_FILENO, &key, 1);
    if (got < 0 && (errno == EINTR || !in_front())) return;
    if (got != 1) {  // the terminal is gone: do not stay paused
      there_ = paused_ = false;
      return;
    }
    if (key == 'p' || key == 'P') paused_ = !paused_;
    // A second Ctrl-C ends the program at once; a second q must not.
    if ((key == 'q' || key == 'Q') && Interruption::signal() == 0) std::raise(SIGINT);
  }
}

}  // namespace obolus::cli
