// Reading a report in a test.
#pragma once

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "obolus/check/report.hpp"

namespace obolus::test {

using Names = std::set<std::string>;

inline Names failed(const CheckReport& report) {
  Names names;
  for (const Finding& f : report.findings)
    if (!f.ok) names.insert(f.what);
  return names;
}

inline testing::AssertionResult passes(const CheckReport& report) {
  if (report.findings.empty()) return testing::AssertionFailure() << "nothing was checked";
  testing::AssertionResult result = testing::AssertionFailure();
  for (const Finding& f : report.findings)
    if (!f.ok) result << f.what << ": " << f.error << " > " << f.tolerance << " at " << f.where << "\n";
  return report.ok() ? testing::AssertionSuccess() : result;
}

}  // namespace obolus::test
