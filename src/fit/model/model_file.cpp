#include "fit/model/model_file.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <optional>

#include "data/checksum.hpp"
#include "data/durable_file.hpp"
#include "obolus/core/error.hpp"

namespace obolus::fit {
namespace {

constexpr std::string_view magic = "OBOLUSFM";
constexpr std::uint32_t version = 2, oldest = 1;
constexpr std::uint64_t max_size = std::uint64_t{1} << 35;

struct Header {
  char magic[8];
  std::uint32_t version, reserved;
  std::uint64_t size, checksum;
};

// Options added in version 2 have their defaults when older files are read.
bool is_new(std::string_view name) {
  return name == "optimiser" || name == "optimiser_options" || name == "feature_step" || name == "shrinkage";
}

void option_fields(Archive& a, FitOptions& options, std::uint32_t of_version = version) {
  options.describe([&]<class T>(std::string_view name, T& value, std::string_view, Range = {}) {
    if (of_version < 2 && is_new(name)) return;
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

void save_model(const std::string& path, Fit& fit) {
  Archive a;
  FitOptions options = fit.options();
  option_fields(a, options);
  fit.model_fields(a);
  Header header{};
  std::memcpy(header.magic, magic.data(), magic.size());
  header.version = version;
  header.size = a.bytes().size();
  header.checksum = checksum(a.bytes().data(), a.bytes().size());
  std::string content(reinterpret_cast<const char*>(&header), sizeof header);
  content.append(reinterpret_cast<const char*>(a.bytes().data()), a.bytes().size());
  write_atomically(path, content);
}

Fit load_model(const std::string& path) {
  std::string content = read_whole_file(path, max_size);
  Header header{};
  if (content.size() < sizeof header || content.compare(0, magic.size(), magic) != 0)
    throw DataError(path + ": got something else, expected a model of `obolus fit`");
  std::memcpy(&header, content.data(), sizeof header);
  if (header.version < oldest || header.version > version)
    throw DataError(fmt::format("{}: got a model of version {}, expected {}: {}", path, header.version, version,
                                header.version > version ? "use the newer obolus that wrote it"
                                                         : "fit it again, or predict with the obolus that wrote it"));
  const auto* data = reinterpret_cast<const std::byte*>(content.data()) + sizeof header;
  const std::size_t size = content.size() - sizeof header;
  if (size != header.size || header.reserved != 0 || checksum(data, size) != header.checksum)
    throw DataError(path + ": is damaged (size or checksum differ); fit the model again");
  try {
    Archive a(std::vector<std::byte>(data, data + size));
    FitOptions options;
    option_fields(a, options, header.version);
    Fit fit(options);
    fit.model_fields(a);
    a.finish();
    return fit;
  } catch (const ConfigError& e) {
    throw DataError(fmt::format("{}: {}", path, e.what()));
  } catch (const DataError& e) {
    throw DataError(fmt::format("{}: {}", path, e.what()));
  }
}

}  // namespace obolus::fit
