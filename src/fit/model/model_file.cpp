#include "fit/model/model_file.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "data/durable_file.hpp"
#include "data/sealed_bytes.hpp"
#include "obolus/core/error.hpp"

namespace obolus::fit {
namespace {

constexpr std::string_view magic = "OBOLUSFM";
constexpr std::uint32_t version = 4, oldest = 3;  // since 4 with the label's name
constexpr std::uint64_t max_size = std::uint64_t{1} << 35;

void option_fields(Archive& a, FitOptions& options) {
  options.describe([&]<class T>(std::string_view name, T& value, std::string_view, Range = {}) {
    if constexpr (std::is_same_v<T, std::optional<double>>) {
      double number = value.value_or(std::nan(""));
      a(name, number);
      value = std::isnan(number) ? std::nullopt : std::optional(number);
    } else {
      a(name, value);
    }
  });
}

}  // namespace

std::string model_bytes(Fit& fit) {
  Archive a;
  FitOptions options = fit.options();
  option_fields(a, options);
  fit.model_fields(a);
  return sealed(magic, version, a.bytes());
}

Fit model_from(const std::string& bytes, const std::string& name) {
  const Unsealed found = unsealed(bytes, magic, oldest, version);
  switch (found.fault) {
    case SealFault::none: break;
    case SealFault::another_file: throw DataError(name + ": got something else, expected a model of `obolus fit`");
    case SealFault::another_version:
      throw DataError(fmt::format("{}: got a model of version {}, expected {}: {}", name, found.version, version,
                                  found.version > version ? "use the newer obolus that wrote it"
                                                          : "fit it again, or predict with the obolus that wrote it"));
    case SealFault::damaged: throw DataError(name + ": is damaged (size or checksum differ); fit the model again");
  }
  try {
    Archive a(std::vector<std::byte>(found.bytes.begin(), found.bytes.end()));
    FitOptions options;
    option_fields(a, options);
    Fit fit(options);
    fit.model_fields(a);
    a.finish();
    return fit;
  } catch (const ConfigError& e) {
    throw DataError(fmt::format("{}: {}", name, e.what()));
  } catch (const DataError& e) {
    throw DataError(fmt::format("{}: {}", name, e.what()));
  }
}

void save_model(const std::string& path, Fit& fit) { write_atomically(path, model_bytes(fit)); }

Fit load_model(const std::string& path) { return model_from(read_whole_file(path, max_size), path); }

}  // namespace obolus::fit
