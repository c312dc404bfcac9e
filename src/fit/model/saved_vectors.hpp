// Lists whose length is known only when they are loaded; one that the bytes cannot hold is refused before memory is
// taken for it.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "obolus/core/archive.hpp"

namespace obolus::fit {

template <class T, class A>
  requires std::is_trivially_copyable_v<T>
void saved(Archive& a, std::string_view name, std::vector<T, A>& list) {
  std::string bytes;
  if (!a.loading() && !list.empty()) bytes.assign(reinterpret_cast<const char*>(list.data()), list.size() * sizeof(T));
  a(name, bytes);
  if (!a.loading()) return;
  if (bytes.size() % sizeof(T) != 0)
    throw DataError("saved state: field '" + std::string(name) + "' ends in the middle of a number");
  list.resize(bytes.size() / sizeof(T));
  if (!list.empty()) std::memcpy(list.data(), bytes.data(), bytes.size());
}

// A list of parts with fields of their own.
template <class T>
void saved_list(Archive& a, std::string_view name, std::vector<T>& list, std::uint64_t max = 1u << 24) {
  auto count = static_cast<std::uint64_t>(list.size());
  a(name, count);
  if (count > max)
    throw DataError("saved state: field '" + std::string(name) + "' has " + std::to_string(count) +
                    " parts, expected at most " + std::to_string(max));
  if (!a.loading()) {
    for (T& part : list) part.fields(a);
    return;
  }
  for (list.clear(); list.size() < count;) list.emplace_back().fields(a);
}

}  // namespace obolus::fit
