// How, where and when a run was started: a line of JSON for the about.jsonl of its folder.
#pragma once

#include <string>

namespace obolus::cli {

void remember_command(int argc, char** argv);
[[nodiscard]] const std::string& command_line();  // quoted for a shell
[[nodiscard]] std::string now();                  // 2026-01-31T12:00:00Z
[[nodiscard]] std::string about_line();

}  // namespace obolus::cli
