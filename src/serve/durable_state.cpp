#include "serve/durable_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "data/sealed_bytes.hpp"
#include "obolus/core/error.hpp"

namespace obolus::serve {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view magic = "OBOLUSSV", prefix = "journal-";
constexpr std::uint32_t version = 1;
constexpr std::uint64_t max_checkpoint = std::uint64_t{1} << 35;

}  // namespace

DurableState::DurableState(std::string folder, std::uint64_t base, bool keep_journal)
    : folder_(std::move(folder)), base_(base), keep_journal_(keep_journal), lock_(folder_) {}

std::string DurableState::path_of(std::int64_t start) const {
  return fmt::format("{}/{}{:015}", folder_, prefix, start);
}

std::vector<DurableState::Segment> DurableState::segments() const {
  std::vector<Segment> found;
  for (const auto& entry : fs::directory_iterator(folder_)) {
    const std::string name = entry.path().filename().string();
    const char *first = name.data() + std::min(prefix.size(), name.size()), *last = name.data() + name.size();
    std::int64_t start = 0;
    const auto [end, error] = std::from_chars(first, last, start);
    if (name.starts_with(prefix) && error == std::errc() && end == last)
      found.push_back({start, entry.path().string()});
  }
  std::ranges::sort(found, {}, &Segment::start);
  return found;
}

void DurableState::load_checkpoint(ServedState& state) const {
  const std::string path = folder_ + "/checkpoint";
  if (!fs::exists(path)) return;
  const std::string content = read_whole_file(path, max_checkpoint);
  const Unsealed found = unsealed(content, magic, version, version);
  if (found.fault == SealFault::another_version)
    throw DataError(fmt::format("{}: got version {}, expected {}: serve it with the program that wrote it", path,
                                found.version, version));
  if (found.fault != SealFault::none)
    throw DataError(path + ": got something else or a damaged file, expected a checkpoint of `obolus serve`");
  Archive a(std::vector<std::byte>(found.bytes.begin(), found.bytes.end()));
  std::uint64_t base = 0;
  a("base", base);
  if (base != base_)
    throw ConfigError(
        fmt::format("{}: is of another run: the run's checkpoint has changed since it was served. Move "
                    "the folder away to serve the run as it is now",
                    folder_));
  state.fit = Fit(state.fit.options());  // what the run was in the middle of is over
  state.fields(a);
  a.finish();
}

// The good bytes of the segment. Rows from `until` on are in the next segment.
std::uint64_t DurableState::replay(const Segment& segment, std::optional<std::int64_t> until, ServedState& state,
                                   const std::function<void(std::string_view lines)>& learn) const {
  JournalReader reader(file_bytes(segment.path), segment.path);
  if (reader.start() != JournalStart{segment.start, base_})
    throw DataError(segment.path + ": is of another run, or was renamed; expected the journal of this one");
  for (JournalRecord record; reader.next(record);) {
    if (record.first + record.rows <= state.rows) continue;  // the checkpoint has it
    if (until && record.first >= *until) break;              // was never acknowledged
    const std::int64_t after = record.first + record.rows;
    if (record.first != state.rows)
      throw DataError(fmt::format("{}: goes on after row {}, expected row {}: a file of the journal is missing",
                                  segment.path, record.first, state.rows));
    learn(record.lines);
    if (state.rows != after)
      throw DataError(fmt::format("{}: got {} rows in a record, expected {}", segment.path, state.rows - record.first,
                                  record.rows));
  }
  return reader.good_bytes();
}

void DurableState::recover(ServedState& state, const std::function<void(std::string_view lines)>& learn) {
  std::error_code none;
  fs::remove(folder_ + "/checkpoint.tmp", none);
  load_checkpoint(state);
  const std::vector<Segment> all = segments();
  std::uint64_t good = 0;
  for (std::size_t i = 0; i < all.size(); ++i)
    good = replay(all[i], i + 1 < all.size() ? std::optional(all[i + 1].start) : std::nullopt, state, learn);
  if (!all.empty() && all.back().start > state.rows)
    throw DataError(fmt::format("{}: goes on after row {}, expected row {}: the checkpoint is missing", all.back().path,
                                all.back().start, state.rows));
  if (!all.empty()) {
    start_ = all.back().start;
    journal_ = std::make_unique<JournalWriter>(all.back().path, good);
    return;
  }
  start_ = state.rows;
  journal_ = std::make_unique<JournalWriter>(path_of(start_), JournalStart{start_, base_});
}

template <class Work>
void DurableState::guarded(Work&& work) {
  if (broken_) throw DataError(folder_ + ": the journal could not be written");
  try {
    work();
  } catch (const DataError&) {
    broken_ = true;
    try {
      journal_->cut_back();
    } catch (const DataError&) {  // NOLINT(bugprone-empty-catch): the checkpoint to come makes it superfluous
    }
    throw;
  }
}

void DurableState::commit(bool sync) {
  guarded([&] {
    journal_->write();
    if (sync) journal_->sync();
    journal_->settle();
  });
}

void DurableState::sync() {
  guarded([&] { journal_->sync(); });
}

void DurableState::checkpoint(ServedState& state) {
  Archive a;
  a("base", base_);
  state.fields(a);
  write_atomically(folder_ + "/checkpoint", sealed(magic, version, a.bytes()));
  if (broken_ || state.rows > start_) {
    broken_ = true;  // until the new segment stands
    journal_ = std::make_unique<JournalWriter>(path_of(state.rows), JournalStart{state.rows, base_});
    start_ = state.rows;
    broken_ = false;
  }
  if (keep_journal_) return;
  std::error_code none;
  for (const Segment& segment : segments())
    if (segment.start < start_) fs::remove(segment.path, none);
}

}  // namespace obolus::serve
