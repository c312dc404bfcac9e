#include "data/generators/generated_reader.hpp"

#include <string>
#include <vector>

#include "obolus/core/to_size.hpp"

namespace obolus {
namespace {

class GeneratedReader final : public RowReader {
 public:
  explicit GeneratedReader(const GeneratorOptions& options)
      : generator_(make_generator(options)),
        name_(std::visit([](const auto& o) { return std::string(o.name); }, options)) {
    for (const GeneratedColumn& column : generator_->columns()) {
      groups_.push_back(column.name);
      std::vector<std::uint64_t>& keys = category_keys_.emplace_back();
      for (const std::string& category : column.categories) keys.push_back(row_key(column.name, category));
    }
  }

  [[nodiscard]] bool next(DataRow& row) override {
    generator_->row(next_++, generated_);
    row.label = generator_->classes()[to_size(generated_.label)];
    row.weight = 1;
    row.tag.clear();
    row.features.clear();
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const auto group = static_cast<std::uint32_t>(g);
      const auto& keys = category_keys_[g];
      if (keys.empty()) row.features.push_back({group, group, generated_.numbers[g]});
      else row.features.push_back({group, keys[to_size(generated_.numbers[g])], 1.0f});
    }
    return true;
  }
  [[nodiscard]] std::string place() const override { return name_ + ":" + std::to_string(next_); }
  [[nodiscard]] const std::vector<std::string>& groups() const override { return groups_; }
  [[nodiscard]] std::string describe() const override { return "generated rows of " + name_; }
  [[nodiscard]] std::uint64_t skipped() const override { return 0; }
  [[nodiscard]] const std::string& first_skipped() const override { return none_; }

 private:
  std::unique_ptr<Generator> generator_;
  std::string name_, none_;
  std::vector<std::string> groups_;
  std::vector<std::vector<std::uint64_t>> category_keys_;
  GeneratedRow generated_;
  std::int64_t next_ = 0;
};

}  // namespace

std::unique_ptr<RowReader> read_generated(const GeneratorOptions& options) {
  return std::make_unique<GeneratedReader>(options);
}

}  // namespace obolus
