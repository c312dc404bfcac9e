// Runs as the page shows them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "live/run_name.hpp"
#include "obolus/core/types.hpp"
#include "trace/trace_columns.hpp"

namespace obolus::cli {

// On one line, whatever bytes are in a name.
[[nodiscard]] std::string text_of(const Json& json);

class LiveColumns : public TraceColumns {
 public:
  using TraceColumns::append;
  // An object with "t" and further numbers, and where they were taken "evaluation" (an object of numbers), "x_values"
  // or "x_quantiles" (a list; "x_size" is the size of x), and "alarm" (a text).
  void append(const Json& json);
  // "columns":{…},"evaluation":{…} and, if there are any, ,"alarms":[…] and ,"x":{…}
  void write(std::string& out) const;
};

struct LiveRun {
  RunName name;
  std::string status = "running", quantity = {};
  Round rounds = 0, horizon = 0;
  std::vector<std::string> notes = {};
  Json more = Json::object();  // further members of a Run
  LiveColumns columns = {};

  [[nodiscard]] std::string json() const;
};

}  // namespace obolus::cli
