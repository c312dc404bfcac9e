// A served model's folder: a checkpoint, and the journal of what was learnt since. Whatever happens to the process or
// the machine, what was acknowledged can be learnt again, to the same bits.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/durable_file.hpp"
#include "data/journal/journal.hpp"
#include "serve/served_state.hpp"

namespace obolus::serve {

class DurableState {
 public:
  // Takes the folder for this process. `base` stands for the run that is served. Throws ConfigError if the folder is
  // another process's, or of another base.
  DurableState(std::string folder, std::uint64_t base, bool keep_journal);

  // To be called once, with the state of the base: the checkpoint, then `learn` for the lines of every record.
  void recover(ServedState& state, const std::function<void(std::string_view lines)>& learn);

  // Throw DataError if the disk does not take it; nothing was added then, and the next checkpoint() mends it.
  void add(const JournalRecord& record) { journal_->add(record); }
  void commit(bool sync);
  void sync();

  // Everything so far; a new segment of the journal begins. Throws DataError.
  void checkpoint(ServedState& state);

  [[nodiscard]] bool is_broken() const { return broken_; }
  [[nodiscard]] std::uint64_t journal_bytes() const { return journal_->size(); }
  [[nodiscard]] std::int64_t journal_start() const { return start_; }  // rows before it

 private:
  struct Segment {
    std::int64_t start = 0;
    std::string path;
  };
  [[nodiscard]] std::vector<Segment> segments() const;
  [[nodiscard]] std::string path_of(std::int64_t start) const;
  [[nodiscard]] std::uint64_t replay(const Segment& segment, std::optional<std::int64_t> until, ServedState& state,
                                     const std::function<void(std::string_view lines)>& learn) const;
  void load_checkpoint(ServedState& state) const;
  template <class Work>
  void guarded(Work&& work);

  std::string folder_;
  std::uint64_t base_;
  bool keep_journal_, broken_ = false;
  FolderLock lock_;
  std::unique_ptr<JournalWriter> journal_;
  std::int64_t start_ = 0;
};

}  // namespace obolus::serve
