// Folders for runs, and text that a shell reads back.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <string>

namespace obolus::cli {

// runs/NAME, or runs/NAME-2, … if that exists already.
inline std::string free_directory(const std::string& config) {
  const std::string base = "runs/" + std::filesystem::path(config).stem().string();
  for (int i = 1;; ++i) {
    std::string candidate = i == 1 ? base : fmt::format("{}-{}", base, i);
    if (!std::filesystem::exists(candidate)) return candidate;
  }
}

// Quoted for a shell.
inline std::string shell_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace obolus::cli
