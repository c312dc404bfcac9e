// obolus predict MODEL DATA…: the predictions of a model of `obolus fit`.
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
    if (!file_) throw ConfigError(fmt::format("--output: cannot write to {}", path));
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
  [[noreturn]] void fail() const {
    throw DataError("cannot write to " + (path_.empty() || path_ == "-" ? "standard output" : path_));
  }
  std::string path_;
  std::FILE* file_;
};

void run(Arguments& a) {
  a.rows.settle();
  a.rows.options.labelled = false;
  Fit model = fit::load_model(a.model);
  a.rows.options.usually_numeric = model.columns(true);
  a.rows.options.usually_categorical = model.columns(false);
  a.rows.options.usually_label = model.label_name();
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
    known += prediction.features;
    features += item->row.features.size();
    fit::format_prediction(prediction, model, item->row.tag, a.probabilities, line);
    out.write(line);
    if (!a.rows.can_be_read_again()) std::fflush(nullptr);
  }
  out.close();
  if (features > 0 && known == 0)
    fmt::print(
        stderr,
        "obolus: warning: the model knows none of the rows' features; check the format of the rows and the names of "
        "their columns\n");
}

}  // namespace

void add_predict(Verb& app, int& code) {
  Verb* verb = app.add_subcommand("predict", "predict rows with a model of `obolus fit`");
  auto a = std::make_shared<Arguments>();
  verb->add_option("model", a->model, "the model, a file that `obolus fit` wrote")->required();
  a->rows.add(*verb, false);
  verb->add_option("-o,--output", a->out, "write predictions here; default: standard output");
  verb->add_flag("--probabilities", a->probabilities, "add a column per class");
  verb->add_flag("--names", a->header, "the first line names the columns");
  verb->footer(
      "One line per row, separated by tabs: the class or the number, the classes' probabilities if asked for, and the "
      "row's\n"
      "tag. Columns of CSV, ARFF and JSON are found by name, in any order. Labels are ignored: svmlight and Vowpal\n"
      "Wabbit rows may have them; in CSV, ARFF and JSON their column is left out if it is called as it was when the\n"
      "model was fitted, or named with --label.\n"
      "Exit codes: 0 done, 2 wrong arguments, 3 bad data or model.");
  verb->callback([a, &code] {
    run(*a);
    code = success;
  });
}

}  // namespace obolus::cli
