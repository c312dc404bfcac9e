#include <fmt/format.h>

#include <charconv>
#include <fstream>

#include "data/streams/numbered_classes.hpp"
#include "data/streams/stream_rows.hpp"
#include "obolus/core/error.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus {
namespace {

class VowpalWabbitLines : public StreamRows {
 public:
  VowpalWabbitLines(const std::string& path, std::size_t classes)
      : path_(path), file_(path, std::ios::binary), classes_(numbered_classes(classes)) {
    if (!file_) throw DataError(path + ": cannot be opened");
  }

  [[nodiscard]] const std::vector<std::string>& classes() const override { return classes_; }
  [[nodiscard]] bool next(StreamRow& row) override {
    if (!std::getline(file_, line_)) {
      if (file_.bad()) throw DataError(path_ + ": cannot be read");
      return false;
    }
    ++number_;
    std::size_t label = 0;
    const auto [end, error] = std::from_chars(line_.data(), line_.data() + line_.size(), label);
    const bool known = error == std::errc{} && *end == ' ' && label >= 1 && label <= classes_.size();
    if (!known)
      throw DataError(fmt::format("{}:{}:1: got {:?}, expected a label, 1 to {}", path_, number_,
                                  line_.substr(0, line_.find(' ')).substr(0, 40), classes_.size()));
    row.label = label - 1;
    row.after.assign(line_, to_size(end - line_.data()));
    return true;
  }

 private:
  std::string path_, line_;
  std::ifstream file_;
  std::vector<std::string> classes_;
  std::int64_t number_ = 0;
};

}  // namespace

std::unique_ptr<StreamRows> vowpal_wabbit_lines(const std::string& path, std::size_t classes) {
  return std::make_unique<VowpalWabbitLines>(path, classes);
}

}  // namespace obolus
