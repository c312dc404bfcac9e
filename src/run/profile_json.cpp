#include "run/profile_json.hpp"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace obolus {

using Json = nlohmann::ordered_json;

constexpr double absent = std::numeric_limits<double>::quiet_NaN();

Json profiles_json(const std::vector<Profile>& profiles) {
  Json t = Json::array(), lists = Json::array();
  for (std::size_t i = 0; i < profiles.front().numbers.size(); ++i) {
    lists.push_back(Json::array());
    for (const Profile& p : profiles)
      lists.back().push_back(std::isfinite(p.numbers[i]) ? Json(p.numbers[i]) : Json(nullptr));
  }
  for (const Profile& p : profiles) t.push_back(p.t);
  const bool whole = profiles.front().whole();
  Json json{{"size", profiles.front().size}, {"t", t}, {whole ? "values" : "quantiles", lists}};
  if (!whole) json["levels"] = Profile::levels;
  return json;
}

std::vector<Profile> profiles_of(const Json& json) {
  std::vector<Profile> profiles;
  const auto size = json.at("size").get<Index>();
  for (const Json& t : json.at("t")) profiles.push_back({t.get<Round>(), size, {}});
  for (const Json& list : json.at(size <= Profile::max_values ? "values" : "quantiles"))
    for (std::size_t i = 0; i < profiles.size(); ++i)
      profiles[i].numbers.push_back(list.at(i).is_null() ? absent : list.at(i).get<double>());
  return profiles;
}

Json distribution_json(const Distribution& d) {
  Json json{{"size", d.size}, {"least", d.min}, {"most", d.max}, {"counts", d.counts}};
  if (!d.values.empty()) json["values"] = d.values;
  return json;
}

Distribution distribution_of(const Json& json) {
  Distribution d{json.at("size").get<Index>(), json.at("least").get<double>(), json.at("most").get<double>(), {}, {}};
  json.at("counts").get_to(d.counts);
  if (json.contains("values")) json.at("values").get_to(d.values);
  return d;
}

}  // namespace obolus
