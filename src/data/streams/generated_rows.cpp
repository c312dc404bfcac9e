#include "data/generators/csv.hpp"
#include "data/streams/stream_rows.hpp"
#include "obolus/core/to_size.hpp"

namespace obolus {
namespace {

class GeneratedRows : public StreamRows {
 public:
  explicit GeneratedRows(const GeneratorOptions& options) : generator_(make_generator(options)) {}

  [[nodiscard]] const std::vector<std::string>& classes() const override { return generator_->classes(); }
  [[nodiscard]] std::string head() const override { return csv_head(*generator_); }
  [[nodiscard]] bool next(StreamRow& row) override {
    generator_->row(at_++, generated_);
    row.label = to_size(generated_.label);
    row.before.clear();
    append_csv(*generator_, generated_, row.before);
    return true;
  }

 private:
  std::unique_ptr<Generator> generator_;
  GeneratedRow generated_;
  std::int64_t at_ = 0;
};

}  // namespace

std::unique_ptr<StreamRows> generated_rows(const GeneratorOptions& options) {
  return std::make_unique<GeneratedRows>(options);
}

}  // namespace obolus
