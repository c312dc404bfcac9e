// obolus data rows: writes a data set or a generated stream as labelled rows.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <thread>

#include "config/generator_settings.hpp"
#include "data/durable_file.hpp"
#include "data/streams/stream_rows.hpp"
#include "data/streams/text_streams.hpp"
#include "data_sets.hpp"
#include "obolus/core/error.hpp"
#include "obolus/data/newsgroups.hpp"
#include "option_flags.hpp"
#include "terminal.hpp"
#include "verbs.hpp"

namespace obolus::cli {
namespace {

constexpr std::int64_t generated_by_default = 10'000;

struct Arguments {
  std::string name, output;
  std::optional<std::int64_t> rows;
  std::int64_t seed = 1, phases = 0;
  double imbalance = 20;
  std::vector<std::string> set;
  LabelFaults faults;
};

std::vector<std::string> names() {
  std::vector<std::string> all = data_set_names();
  for (const GeneratorOptions& g : generators()) all.emplace_back(std::visit([](const auto& o) { return o.name; }, g));
  return all;
}

void refuse_option(bool given, const char* option, const std::string& name, const char* whose) {
  if (given) throw ConfigError(fmt::format("{}: got it with {}, expected it only with {}", option, name, whose));
}

std::unique_ptr<StreamRows> opened(const Arguments& a) {
  const bool generated = generator_named(a.name).has_value();
  refuse_option(!a.set.empty() && !generated, "--set", a.name, "generators");
  for (const auto& [set, name] : EnumNames<PictureSet>::values)
    if (a.name == name) {
      LabelledPictures all = load_pictures(set);
      const std::int64_t rows = a.rows.value_or(all.train.count());
      return picture_rows(std::move(all.train), all.classes, {rows, a.phases, a.seed, a.imbalance});
    }
  refuse_option(a.phases > 0, "--phases", a.name, "pictures");
  if (generated) {
    std::vector<std::string> settings{fmt::format("seed={}", a.seed)};
    settings.insert(settings.end(), a.set.begin(), a.set.end());
    return generated_rows(generator_with(a.name, settings));
  }
  if (const TextStream* stream = text_stream_named(a.name))
    return vowpal_wabbit_lines(kept_rows_path(*stream), stream->classes.size());
  return newsgroups_rows(load_newsgroups(), a.seed, std::max(1, static_cast<int>(std::thread::hardware_concurrency())));
}

// Standard output, or a file that appears once it is complete.
class RowOutput {
 public:
  explicit RowOutput(const std::string& path) : path_(path), half_(path + ".tmp") {
    if (!path.empty()) file_.emplace(half_, false);
  }
  RowOutput(const RowOutput&) = delete;
  RowOutput& operator=(const RowOutput&) = delete;
  ~RowOutput() {
    std::error_code none;
    if (file_) std::filesystem::remove(half_, none);
  }
  void write(std::string_view text) {
    if (file_) return file_->append(text);
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size())
      throw DataError("cannot write to standard output");
  }
  void finish() {
    if (!file_) return;
    file_->sync();
    std::error_code error;
    std::filesystem::rename(half_, path_, error);
    if (error) throw DataError(fmt::format("{}: cannot be replaced: {}", path_, error.message()));
    file_.reset();
  }

 private:
  std::string path_, half_;
  std::optional<AppendedFile> file_;
};

void write_rows(Arguments a) {
  const auto rows = opened(a);
  a.faults.seed = a.seed;
  const std::int64_t all = generator_named(a.name) ? generated_by_default : std::numeric_limits<std::int64_t>::max();
  RowOutput output(a.output);
  const std::int64_t written =
      write_stream(*rows, a.rows.value_or(all), a.faults, [&](std::string_view text) { output.write(text); });
  output.finish();
  if (!a.output.empty())
    fmt::print("{}: {} rows in {} classes\n{}\n", a.name, count(written), rows->classes().size(), a.output);
}

}  // namespace

void add_data_rows(Verb& data, int& code) {
  Verb* verb = data.add_subcommand("rows", "write a data set or a generated stream as labelled rows");
  auto a = std::make_shared<Arguments>();
  const Check whole = whole_number(0);
  verb->add_option("name", a->name, fmt::format("name of the data set or generator: {}", fmt::join(names(), ", ")))
      ->required()
      ->check(one_of(names()));
  verb->add_option("-o,--output", a->output, "the file to write; default: standard output");
  verb->add_option("--rows", a->rows,
                   fmt::format("number of rows; default: all, or {} from a generator", count(generated_by_default)))
      ->check(whole);
  verb->add_option("--seed", a->seed, "seed of the order, of generated rows and of the noise")->check(whole);
  verb->add_option("--swap", a->faults.swaps,
                   "after this many rows the classes swap labels: the first with the last, the second with the last "
                   "but one, … (repeatable)")
      ->one_value()
      ->check(whole);
  verb->add_option("--noise", a->faults.noise, "fraction of the labels that are wrong")
      ->check(number_between(0.0, 1.0));
  verb->add_option("--noise-from", a->faults.noise_from, "number of rows before the noise begins")->check(whole);
  verb->add_option("--phases", a->phases, "pictures: number of phases; class proportions change from phase to phase")
      ->check(whole_number(0, 1'000'000));
  verb->add_option("--imbalance", a->imbalance,
                   "with --phases: how many times rarer the rarest class is than the most frequent")
      ->check(number_between(1.0, 1e9));
  verb->add_option("--set", a->set, "generators: set one option: --set drift_rows=[5000,10000] (repeatable)")
      ->type_name("KEY=VALUE")
      ->one_value();
  verb->callback([a, &code] {
    write_rows(*a);
    code = success;
  });
}

}  // namespace obolus::cli
