#include "run/run_directory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <sstream>

#include "config/option_text.hpp"
#include "data/sealed_bytes.hpp"
#include "obolus/core/error.hpp"

namespace obolus {
namespace {

namespace fs = std::filesystem;

// What configs of older builds lack, at the value that their runs had.
constexpr std::array added_since{
    "[evaluation] shadow = false",          "[metrics] variation_solves = false", "[metrics] window = 0",
    "[metrics] window_decay = 1.0",         "[optimiser] inner_momentum = 0.0",   "[optimiser] inner_on = \"round\"",
    "[optimiser] inner_weight_decay = 0.0", "[optimiser] normalise = \"window\"", "[optimiser] outer_momentum = 0.0",
    "[optimiser] outer_weight_decay = 0.0", "[problem] scale = \"plain\"",        "[problem] test_pictures = 0",
    "[problem] phase_loss = false",
};

// A config without what may change when a run is resumed, and without what an older build would not have written.
std::vector<std::string> essentials(const std::string& config) {
  std::vector<std::string> lines;
  std::istringstream in(config::without_comments(config));
  std::string section;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with('[')) section = line;
    const bool free = section == "[log]" || (section == "[problem]" && line.starts_with("rounds "));
    if (!free) lines.push_back(fmt::format("{} {}", section, line));
    if (!free && std::find(added_since.begin(), added_since.end(), lines.back()) != added_since.end()) lines.pop_back();
  }
  return lines;
}

void require_same(const std::string& before, const std::string& now, const std::string& path) {
  const auto a = essentials(before), b = essentials(now);
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    const std::string was = i < a.size() ? a[i] : "nothing", is = i < b.size() ? b[i] : "nothing";
    if (was != is)
      throw ConfigError(
          fmt::format("{}: cannot resume, the config differs: the run has '{}', this config has '{}'", path, was, is));
  }
}

constexpr std::string_view magic = "OBOLUSCP";
constexpr std::uint32_t version = 4;

}  // namespace

RunDirectory::RunDirectory(std::string path, Mode mode, std::string config) : path_(std::move(path)), lock_(path_) {
  const bool there = fs::exists(file("config.toml"));
  if (mode == Mode::resume && fs::exists(file("cells.jsonl")))
    throw ConfigError(path_ + ": cannot resume: holds a comparison, not a run; see `obolus compare --resume`");
  if (holds_results(path_) && mode == Mode::fresh)
    throw ConfigError(path_ +
                      ": already holds a run; use --resume to continue it, --force to replace it, or another --out");
  if (there && mode == Mode::resume) require_same(read_whole_file(file("config.toml"), 1 << 24), config, path_);
  remove_half_written(path_);
  if (mode != Mode::resume) remove_results(path_);
  config_ = std::move(config);
  if (!there || mode != Mode::resume) write_config();
  trace_.emplace(file("trace.jsonl"), mode == Mode::resume);
  trace_bytes_ = trace_->size();
}

void RunDirectory::write_config() { write_atomically(file("config.toml"), config_); }

RunDirectory::~RunDirectory() {
  try {
    flush();
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch): what matters was reported by the last sync
  }
}

void RunDirectory::truncate_trace(std::uint64_t bytes) {
  if (bytes > trace_bytes_)
    throw DataError(fmt::format("{}: has {} bytes, the checkpoint expects {}: it was cut or replaced",
                                file("trace.jsonl"), trace_bytes_, bytes));
  trace_->truncate(bytes);
  trace_bytes_ = bytes;
}

void RunDirectory::append_trace(std::string_view line) {
  buffer_ += line;
  trace_bytes_ += line.size();
  if (buffer_.size() > (1 << 16)) flush();
}

void RunDirectory::flush() {
  if (buffer_.empty()) return;
  std::string pending;
  pending.swap(buffer_);
  trace_->append(pending);
}

void RunDirectory::sync_trace() {
  flush();
  trace_->sync();
}

void RunDirectory::save_checkpoint(const std::vector<std::byte>& state) {
  sync_trace();  // the checkpoint must never be ahead of the trace
  write_atomically(file("checkpoint"), sealed(magic, version, state));
}

std::optional<std::vector<std::byte>> read_checkpoint(const std::string& folder) {
  const std::string path = folder + "/checkpoint";
  if (!fs::exists(path)) return std::nullopt;
  const std::string content = read_whole_file(path, std::uint64_t{1} << 32);
  const Unsealed found = unsealed(content, magic, version, version);
  switch (found.fault) {
    case SealFault::none: break;
    case SealFault::another_file: throw DataError(path + ": is not an Obolus checkpoint");
    case SealFault::another_version:
      throw DataError(
          fmt::format("{}: has version {}, this program reads version {}: resume with the program that wrote it", path,
                      found.version, version));
    case SealFault::damaged: throw DataError(path + ": is damaged (size or checksum differ); start again with --force");
  }
  return std::vector<std::byte>(found.bytes.begin(), found.bytes.end());
}

void RunDirectory::write_summary(std::string_view json) { write_atomically(file("summary.json"), json); }

}  // namespace obolus
