// Which settings of a comparison's grids are drawn: the best of each optimiser on each stream, all, or named ones.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace obolus {

class SettingChoice {
 public:
  // The best ones are in the folder's summary.json; without it (the comparison is in progress) the first setting of an
  // optimiser takes their place.
  SettingChoice(const std::string& folder, const std::string& wanted);

  [[nodiscard]] bool takes(const std::string& stream, const std::string& optimiser, const std::string& setting);
  // What was chosen where there was a choice. Throws ConfigError if no run has the named settings.
  [[nodiscard]] std::vector<std::string> remarks() const;
  // Whether curves need the setting in their names.
  [[nodiscard]] bool several(const std::string& stream, const std::string& optimiser) const;

 private:
  struct Choice {
    std::string best;
    bool ranked = false;  // by summary.json
    std::vector<std::string> seen, taken;
  };
  [[nodiscard]] bool fits(Choice& choice, const std::string& setting) const;
  void read_best();

  std::string folder_, wanted_;
  std::map<std::pair<std::string, std::string>, Choice> choices_;
};

}  // namespace obolus
