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
constexpr std::uint32_t version = 3;
constexpr std::uint64_t max_size = std::uint64_t{1} << 35;

struct Header {
  char magic[8];
  std::uint32_t version, reserved;
  std::uint64_t size, checksum;
};

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
  Header header{};
  std::memcpy(header.magic, magic.data(), magic.size());
  header.version = version;
  header.size = a.bytes().size();
  header.checksum = checksum(a.bytes().data(), a.bytes().size());
  std::string content(reinterpret_cast<const char*>(&header), sizeof header);
  content.append(reinterpret_cast<const char*>(a.bytes().data()), a.bytes().size());
  return content;
}

Fit model_from(const std::string& bytes, const std::string& name) {
  Header header{};
  if (bytes.size() < sizeof header || bytes.compare(0, magic.size(), magic) != 0)
    throw DataError(name + ": got something else, expected a model of `obolus fit`");
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.version != version)
    throw DataError(fmt::format("{}: got a model of version {}, expected {}: {}", name, header.version, version,
                                header.version > version ? "use the newer obolus that wrote it"
                                                         : "fit it again, or predict with the obolus that wrote it"));
  const auto* data = reinterpret_cast<const std::byte*>(bytes.data()) + sizeof header;
  const std::size_t size = bytes.size() - sizeof header;
  if (size != header.size || header.reserved != 0 || checksum(data, size) != header.checksum)
    throw DataError(name + ": is damaged (size or checksum differ); fit the model again");
  try {
    Archive a(std::vector<std::byte>(data, data + size));
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
