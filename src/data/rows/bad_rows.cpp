#include "data/rows/bad_rows.hpp"

#include <fmt/format.h>

namespace obolus {

void BadRows::skip(const BadRow& bad) {
  if (count_ == allowed_) {
    if (allowed_ == 0) throw bad;
    throw BadRow(fmt::format("{} (after skipping {} bad rows, as many as allowed)", bad.what(), count_));
  }
  if (count_++ == 0) first_ = bad.what();
}

}  // namespace obolus
