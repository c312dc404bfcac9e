// What scikit-learn and Python made of a few documents; make_fixture.py says how.
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "obolus/data/text.hpp"

namespace obolus::test {

inline const nlohmann::json& fixture() {
  static const auto content = [] {
    std::ifstream file(OBOLUS_FIXTURE);
    return nlohmann::json::parse(file);
  }();
  return content;
}

// Characters up to U+00FF in UTF-8 as bytes of Latin-1.
inline std::string to_latin1(const std::string& utf8) {
  std::string out;
  for (std::size_t i = 0; i < utf8.size(); ++i) {
    const auto byte = static_cast<unsigned char>(utf8[i]);
    if (byte < 0x80) out += utf8[i];
    else out += static_cast<char>((byte << 6) | (static_cast<unsigned char>(utf8[++i]) & 0x3F));
  }
  return out;
}

// A corpus of the fixture, "latin1" or "utf8"; every document of class 0.
inline TokenisedCorpus tokenised(const std::string& name, int threads = 1) {
  std::vector<std::string> documents[2];
  std::vector<Text> texts[2];
  const char* const parts[] = {"train", "test"};
  for (int i = 0; i < 2; ++i) {
    for (const std::string text : fixture()["documents"][name][parts[i]])
      documents[i].push_back(name == "latin1" ? to_latin1(text) : text);
    for (const std::string& text : documents[i]) texts[i].push_back({text, 0});
  }
  const Encoding encoding = name == "latin1" ? Encoding::latin1 : Encoding::utf8;
  return tokenise(texts[0], texts[1], {"all"}, encoding, threads);
}

}  // namespace obolus::test
