#include "data/rows/chained_rows.hpp"

#include <fmt/format.h>

#include <exception>

#include "data/rows/line_rows.hpp"

namespace obolus {
namespace {

class ChainedRows : public RowReader {
 public:
  ChainedRows(std::vector<std::string> paths, const RowOptions& options, RowOpener open)
      : paths_(std::move(paths)), options_(options), open_(std::move(open)), bad_(options.skip_bad) {
    if (paths_.empty()) throw ConfigError("got no files, expected one or more");
    options_.skip_bad = 0;
    file_ = opened(paths_.front());
  }

  [[nodiscard]] bool next(DataRow& row) override {
    if (failure_) std::rethrow_exception(failure_);
    while (true) {
      try {
        if (file_->next(row)) return any_ = true;
      } catch (const BadRow& bad) {
        any_ = true;
        bad_.skip(bad);
        continue;
      }
      if (at_ + 1 == paths_.size()) return false;
      open_next();
    }
  }

  [[nodiscard]] std::string place() const override { return file_->place(); }
  [[nodiscard]] const std::vector<std::string>& groups() const override { return file_->groups(); }
  [[nodiscard]] std::string label() const override { return file_->label(); }
  [[nodiscard]] bool has_kinds() const override { return file_->has_kinds(); }
  [[nodiscard]] std::optional<int> index_base() const override { return file_->index_base(); }
  [[nodiscard]] std::uint64_t skipped() const override { return bad_.count(); }
  [[nodiscard]] const std::string& first_skipped() const override { return bad_.first(); }
  [[nodiscard]] std::string describe() const override {
    return fmt::format("{}; file {} of {}", file_->describe(), at_ + 1, paths_.size());
  }

 private:
  [[nodiscard]] std::unique_ptr<LineRows> opened(const std::string& path) const {
    std::unique_ptr<RowReader> reader = open_(path, options_);
    std::unique_ptr<LineRows> rows(&dynamic_cast<LineRows&>(*reader));
    (void)reader.release();  // NOLINT(bugprone-unused-return-value): `rows` owns it
    return rows;
  }

  // A file that cannot follow ends the stream with its error, now and on every later call.
  void open_next() try {
    // Do not wait again for what is already decided.
    if (const auto base = file_->index_base(); base && file_->decided())
      options_.index_base = *base == 0 ? IndexBase::zero : IndexBase::one;
    auto following = opened(paths_[++at_]);
    // A file without rows may be of any format.
    const bool other = &following->format() != &file_->format();
    if (other && following->no_more()) return;
    if (!other || any_) following->follow(*file_);
    file_ = std::move(following);
  } catch (...) {
    failure_ = std::current_exception();
    throw;
  }

  std::vector<std::string> paths_;
  RowOptions options_;
  RowOpener open_;
  BadRows bad_;
  std::unique_ptr<LineRows> file_;
  std::size_t at_ = 0;
  bool any_ = false;  // rows, good or bad
  std::exception_ptr failure_;
};

}  // namespace

std::unique_ptr<RowReader> chained_rows(std::vector<std::string> paths, const RowOptions& options, RowOpener open) {
  if (paths.size() == 1) return open(paths.front(), options);
  return std::make_unique<ChainedRows>(std::move(paths), options, std::move(open));
}

}  // namespace obolus
