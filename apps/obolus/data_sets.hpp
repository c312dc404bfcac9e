// The data sets that `obolus data` knows: what they are, their licences and where they are kept.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "verb.hpp"

namespace obolus::cli {

struct DataSet {
  std::string name, what, licence;
  std::function<std::string()> path;   // a file or a folder
  std::function<std::string()> sizes;  // of what is there; throws DataError if it is damaged
};

[[nodiscard]] const std::vector<DataSet>& data_sets();
[[nodiscard]] const DataSet& data_set_named(const std::string& name);  // throws ConfigError
[[nodiscard]] std::vector<std::string> data_set_names();

void add_data_get(Verb& data, int& code);
void add_data_rows(Verb& data, int& code);

}  // namespace obolus::cli
