#include "about.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cmath>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "obolus/version.hpp"
#include "run_folder.hpp"

namespace obolus::cli {
namespace {

std::string command;

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(std::min(line.size(), line.find(':') + 2));
  return "unknown";
}

std::string system() {
  utsname name{};
  return ::uname(&name) == 0 ? fmt::format("{} {} {}", name.sysname, name.release, name.machine) : "unknown";
}

double memory_gb() {
  const double bytes = double(::sysconf(_SC_PHYS_PAGES)) * double(::sysconf(_SC_PAGE_SIZE));
  return std::round(bytes / 1e8) / 10;
}

}  // namespace

void remember_command(int argc, char** argv) {
  constexpr const char* plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/@%";
  for (int i = 0; i < argc; ++i) {
    const std::string word = argv[i];
    const bool bare = !word.empty() && word.find_first_not_of(plain) == std::string::npos;
    command += (i ? " " : "") + (bare ? word : shell_quoted(word));
  }
}

const std::string& command_line() { return command; }

std::string now() {
  const std::time_t t = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&t, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

std::string about_line() {
  const nlohmann::ordered_json json{{"command", command},
                                    {"obolus", version_text},
                                    {"started", now()},
                                    {"machine",
                                     {{"processor", processor()},
                                      {"cores", std::thread::hardware_concurrency()},
                                      {"memory_gb", memory_gb()},
                                      {"system", system()},
                                      {"compiler", fmt::format("C++ {}", __VERSION__)}}}};
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace obolus::cli
