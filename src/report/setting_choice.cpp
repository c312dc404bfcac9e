#include "report/setting_choice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "data/durable_file.hpp"
#include "obolus/core/error.hpp"

namespace obolus {
namespace {

constexpr std::uint64_t max_summary = std::uint64_t{1} << 30;

std::vector<std::string> parts(const std::string& setting) {
  std::vector<std::string> all;
  for (std::size_t at = 0; at <= setting.size();) {
    const std::size_t end = std::min(setting.find(',', at), setting.size());
    std::string part = setting.substr(at, end - at);
    std::erase(part, ' ');
    if (!part.empty()) all.push_back(std::move(part));
    at = end + 1;
  }
  return all;
}

// "gamma=0.05" fits "gamma=0.05, inner_steps=2", and not "gamma=0.051".
bool names(const std::string& wanted, const std::string& setting) {
  const auto there = parts(setting);
  const auto asked = parts(wanted);
  return std::all_of(asked.begin(), asked.end(),
                     [&](const auto& part) { return std::find(there.begin(), there.end(), part) != there.end(); });
}

bool add_once(std::vector<std::string>& list, const std::string& text) {
  if (std::find(list.begin(), list.end(), text) != list.end()) return false;
  list.push_back(text);
  return true;
}

}  // namespace

SettingChoice::SettingChoice(const std::string& folder, const std::string& wanted) : folder_(folder), wanted_(wanted) {
  if (wanted_ == "best" && std::filesystem::exists(folder_ + "/summary.json")) read_best();
}

void SettingChoice::read_best() {
  const std::string path = folder_ + "/summary.json";
  try {
    const auto summary = nlohmann::json::parse(read_whole_file(path, max_summary));
    for (const auto& stream : summary.at("streams"))
      for (const auto& optimiser : stream.at("optimisers")) {
        const auto& best = optimiser.at("best");
        if (best.is_null()) continue;
        Choice& choice = choices_[{stream.at("name").get<std::string>(), optimiser.at("label").get<std::string>()}];
        choice.best = best.at("setting").get<std::string>();
        choice.ranked = true;
      }
  } catch (const nlohmann::json::exception&) {
    throw DataError(path + ": is damaged: not the summary of a comparison; --setting all draws without it");
  }
}

bool SettingChoice::fits(Choice& choice, const std::string& setting) const {
  if (setting.empty() || wanted_ == "all") return true;
  if (wanted_ != "best") return names(wanted_, setting);
  if (choice.ranked) return setting == choice.best;
  return setting == choice.seen.front();
}

bool SettingChoice::takes(const std::string& stream, const std::string& optimiser, const std::string& setting) {
  Choice& choice = choices_[{stream, optimiser}];
  add_once(choice.seen, setting);
  if (!fits(choice, setting)) return false;
  add_once(choice.taken, setting);
  return true;
}

std::vector<std::string> SettingChoice::remarks() const {
  std::vector<std::string> lines, there;
  bool any = false;
  for (const auto& [name, choice] : choices_) {
    any = any || !choice.taken.empty();
    for (const std::string& setting : choice.seen) add_once(there, setting);
    if (choice.seen.size() < 2 && !(choice.taken.empty() && !choice.seen.empty())) continue;
    const std::string where = fmt::format("{}: {}: {}", folder_, name.first, name.second);
    if (choice.taken.empty())
      lines.push_back(fmt::format("{}: not drawn: none of its {} settings fits", where, choice.seen.size()));
    else if (wanted_ == "best")
      lines.push_back(fmt::format("{}: drawn is '{}', {} of {} settings", where, choice.taken.front(),
                                  choice.ranked ? "the best by summary.json" : "the first (no summary.json yet)",
                                  choice.seen.size()));
    else
      lines.push_back(fmt::format("{}: drawn are {} of {} settings", where, choice.taken.size(), choice.seen.size()));
  }
  if (!any && !there.empty()) {
    there.resize(std::min<std::size_t>(there.size(), 20));
    throw ConfigError(fmt::format("--setting '{}': no setting of {} fits (there are: '{}')", wanted_, folder_,
                                  fmt::join(there, "', '")));
  }
  return lines;
}

bool SettingChoice::several(const std::string& stream, const std::string& optimiser) const {
  const auto found = choices_.find({stream, optimiser});
  return found != choices_.end() && found->second.taken.size() > 1;
}

}  // namespace obolus
