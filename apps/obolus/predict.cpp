// obolus predict MODEL DATA…: what a model of `obolus fit` says of rows.
#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <span>

#include "fit/model/model_file.hpp"
#include "fit/stream/prediction_line.hpp"
#include "fit/stream/row_pipe.hpp"
#include "obolus/core/error.hpp"
#include "row_flags.hpp"
#include "verbs.hpp"

namespace obolus::cli {
namespace {

struct Arguments {
  std::string model, out;
  RowFlags rows;
  bool probabilities = false, header = false;
};

class Output {
 public:
  explicit Output(const std::string& path)
      : path_(path), file_(path.empty() || path == "-" ? stdout : std::fopen(path.c_str(), "wb")) {
    if (!file_) throw ConfigError(fmt::format("--output: {} cannot be written", path));
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output() {
    if (file_ && file_ != stdout) std::fclose(file_);
  }
  void write(const std::string& line) {
    if (std::fwrite(line.data(), 1, line.size(), file_) != line.size()) fail();
  }
  void close() {
    const bool good = file_ == stdout ? std::fflush(file_) == 0 : std::fclose(file_) == 0;
    file_ = nullptr;
    if (!good) fail();
  }

 private:
  [[noreturn]] void fail() const { throw DataError((path_.empty() ? "standard output" : path_) + ": takes no more"); }
  std::string path_;
  std::FILE* file_;
};

void run(Arguments& a) {
  a.rows.settle();
  a.rows.options.labelled = false;
  Fit model = fit::load_model(a.model);
  a.rows.options.usually_numeric = model.columns(true), a.rows.options.usually_categorical = model.columns(false);
  fit::RowPipe pipe(a.rows.open(), true);
  Output out(a.out);
  std::string line;
  if (a.header) {
    line = "predicted";
    for (const std::string& name : model.classes())
      if (a.probabilities) line += "\t" + name;
    out.write(line + "\n");
  }
  std::size_t groups = 0, known = 0, features = 0;
  while (const fit::RowPipe::Item* item = pipe.next()) {
    if (item->groups > groups) {
      groups = item->groups;
      model.set_groups(std::span(pipe.groups()).first(groups), item->columns);
    }
    const Prediction& prediction = model.predict(item->row);
    known += prediction.features, features += item->row.features.size();
    fit::prediction_text(prediction, model, item->row.tag, a.probabilities, line);
    out.write(line);
    if (!a.rows.can_be_read_again()) std::fflush(nullptr);
  }
  out.close();
  if (features > 0 && known == 0)
    fmt::print(
        stderr,
        "obolus: warning: the model knows none of the rows' features; are the rows of another format, or the columns "
        "of other names?\n");
}

}  // namespace

void add_predict(CLI::App& app, int& code) {
  CLI::App* verb = app.add_subcommand("predict", "what a model of `obolus fit` says of rows");
  auto a = std::make_shared<Arguments>();
  verb->add_option("model", a->model, "the model, a file that `obolus fit` wrote")->required();
  a->rows.add(*verb, false);
  verb->add_option("-o,--output", a->out, "where predictions go; default: standard output");
  verb->add_flag("--probabilities", a->probabilities, "a column for every class, too");
  verb->add_flag("--names", a->header, "the first line names the columns");
  verb->footer(
      "A line a row: the class or the number, then, where asked for, the classes' probabilities, then the row's tag,\n"
      "separated by tabs. Columns of CSV and ARFF are found by their names, in any order. Labels are not looked at: "
      "in\n"
      "svmlight and Vowpal Wabbit rows they may be there, in CSV and ARFF say which column it is with --label.\n"
      "Exit codes: 0 done, 2 wrong arguments, 3 bad data or model.");
  verb->callback([a, &code] {
    run(*a);
    code = success;
  });
}

}  // namespace obolus::cli
