// Where rows come from and how they are read: the flags that `fit` and `predict` share.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "obolus/any/listing.hpp"
#include "obolus/data/rows.hpp"
#include "verb.hpp"

namespace obolus::cli {

struct RowFlags {
  std::vector<std::string> files;
  RowOptions options;
  std::string generate;    // NAME,key=value,…; instead of files
  std::string validation;  // one more file, whose rows judge hyperparameters

  void add(Verb& verb, bool labelled);
  void settle();  // after parsing
  [[nodiscard]] bool can_be_read_again() const;
  [[nodiscard]] std::unique_ptr<RowReader> open() const;
  [[nodiscard]] std::unique_ptr<RowReader> open_validation() const;  // null if there is none
  [[nodiscard]] std::string name() const;                            // of a run on them
  [[nodiscard]] std::string echo() const;                            // lines of TOML
};

[[nodiscard]] std::vector<Listing> list_formats();

}  // namespace obolus::cli
