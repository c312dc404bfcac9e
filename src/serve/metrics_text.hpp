// What Prometheus reads: its text format, version 0.0.4.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "serve/served_model.hpp"

namespace obolus::serve {

class MetricsText {
 public:
  void add(const ServedModel& model);
  void add_requests(std::string_view path, int status, std::int64_t count, double seconds);
  [[nodiscard]] std::string text() const;  // samples of one name stand together

 private:
  struct Family {
    const char *type, *help;
    std::string samples;
  };
  void sample(const char* name, const char* type, const char* help, const std::string& labels, double value);
  std::map<std::string, Family> families_;
};

}  // namespace obolus::serve
