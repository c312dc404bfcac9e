#include "report/catalogue.hpp"

#include <nlohmann/json.hpp>

#include "obolus/metrics/row.hpp"

namespace obolus {

nlohmann::ordered_json catalogue_json() {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const RowColumn& column : row_columns)
    list.push_back({{"name", column.name},
                    {"label", column.label},
                    {"meaning", column.meaning},
                    {"panel", column.panel},
                    {"scale", column.is(RowColumn::log_scale) ? "log" : "linear"}});
  return list;
}

}  // namespace obolus
