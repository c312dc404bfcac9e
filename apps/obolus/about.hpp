// Who runs this, where and when: a line of JSON for a run folder's about.jsonl.
#pragma once

#include <string>

namespace obolus::cli {

void remember_command(int argc, char** argv);
[[nodiscard]] const std::string& command_line();  // quoted for a shell
[[nodiscard]] std::string now();                  // 2026-01-31T12:00:00Z
[[nodiscard]] std::string about_line();

}  // namespace obolus::cli
