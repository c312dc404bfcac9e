// `obolus fit` on rows of arrays: the learner behind StreamClassifier and StreamRegressor.
#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cmath>
#include <mutex>
#include <optional>
#include <span>

#include "config/document.hpp"
#include "config/section_reader.hpp"
#include "data/durable_file.hpp"
#include "fit/model/label.hpp"
#include "fit/model/model_file.hpp"
#include "module.hpp"
#include "obolus/fit/fit.hpp"
#include "stream_rows.hpp"

namespace obolus::python {
namespace {

FitOptions options_of(const std::string& config) {
  const toml::table root = config::parse(config, "options");
  config::SectionReader reader(root, "fit");
  FitOptions options;
  options.describe(reader);
  reader.finish();
  validate(options, "fit");
  return options;
}

Archive archive_of(const nb::bytes& saved) {
  const auto* data = reinterpret_cast<const std::byte*>(saved.c_str());
  return Archive(std::vector<std::byte>(data, data + saved.size()));
}

nb::bytes bytes_of(const std::string& text) { return nb::bytes(text.data(), text.size()); }

// A learner, and after end() the model of all its rows, which is what a model file holds and what predicts until
// further rows come. One thread at a time works on it; the others wait without the GIL.
class Stream {
 public:
  explicit Stream(const std::string& config) : fit_(options_of(config)) {}
  explicit Stream(Fit model) : fit_(std::move(model)), is_model_(true) { columns_.take(fit_); }

  void set_label_name(const std::string& name) {
    const auto lock = locked();
    for (Fit* fit : both())
      if (fit) fit->set_label_name(name);
  }

  // A table, column by column in its own order. `numbers` has the numeric ones side by side; an entry of `columns` is
  // (name,) for the next of them, or (name, codes, texts) of categories. `in_turn`: what is not known of a row's
  // columns when that row alone has come is not used.
  nb::object table(const Matrix2<double>& numbers, const nb::typed<nb::list, nb::any>& columns, const nb::object& codes,
                   std::vector<std::string> texts, const nb::object& targets, const nb::object& weights, bool learn,
                   bool judge, bool in_turn) {
    const auto lock = locked();
    if (learn) require_trainable();
    const std::size_t rows = numbers.shape(0);
    const Labels labels(codes, std::move(texts), targets, weights, rows);
    const std::vector<TableColumn> read = columns_.read(numbers, columns, learn, in_turn);
    set_groups();
    return each(rows, labels, learn, judge, [&](std::size_t i, DataRow& row) {
      for (const TableColumn& column : read) column.put(i, row);
    });
  }

  // Sparse rows in CSR form: feature j is what `obolus fit` reads as index j of an svmlight file.
  nb::object sparse(const Numbers1<std::int64_t>& starts, const Numbers1<std::int64_t>& indices,
                    const Numbers1<double>& values, const nb::object& codes, std::vector<std::string> texts,
                    const nb::object& targets, const nb::object& weights, bool learn, bool judge) {
    const auto lock = locked();
    if (learn) require_trainable();
    const std::size_t rows = starts.size() - 1;
    const Labels labels(codes, std::move(texts), targets, weights, rows);
    const std::string one;
    for (Fit* fit : both())
      if (fit) fit->set_groups(std::span(&one, 1), false);
    return each(rows, labels, learn, judge, [&](std::size_t i, DataRow& row) {
      for (std::int64_t k = starts.data()[i]; k < starts.data()[i + 1]; ++k)
        row.features.push_back(
            {0, static_cast<std::uint64_t>(indices.data()[k]), static_cast<float>(values.data()[k])});
    });
  }

  // One row as a dict: numbers and truth values are numeric columns, None is missing, anything else is a category.
  nb::object one(const Fields& features, const std::string& label, double weight, bool learn) {
    const auto lock = locked();
    if (learn) require_trainable();
    row_.features.clear();
    for (const auto& [key, value] : features) columns_.put(nb::cast<std::string>(nb::str(key)), value, learn, row_);
    set_groups();
    row_.label = label;
    row_.weight = weight;
    const Prediction& p = step(row_, learn);
    nb::object result;
    if (fit_.options().task == FitTask::numbers) {
      result = nb::float_(p.number);
    } else {
      nb::list list;
      for (const double probability : p.probabilities) list.append(probability);
      result = std::move(list);
    }
    if (learn) require_finite();
    return result;
  }

  // Learns the rows that wait for a full round, in a copy: this one goes on as if there had been no end.
  void end() {
    const auto lock = locked();
    if (!model_ && !is_model_) model_ = fit::model_from(finished_bytes(), "model");
  }
  nb::bytes model() {
    const auto lock = locked();
    return bytes_of(model_text());
  }
  void write(const std::string& path) {
    const auto lock = locked();
    write_atomically(path, model_text());
  }

  nb::bytes state() {
    const auto lock = locked();
    Archive a;
    fields(a);
    return nb::bytes(a.bytes().data(), a.bytes().size());
  }
  // `model`: the bytes of model(), where there is an end of rows.
  void restore(const nb::bytes& saved, const std::optional<nb::bytes>& model) {
    const auto lock = locked();
    Archive a = archive_of(saved);
    fields(a);
    a.finish();
    model_.reset();
    if (model) model_ = fit::model_from(std::string(model->c_str(), model->size()), "model");
  }

  template <class F>
  auto ask(F&& question) {
    const auto lock = locked();
    return question(model_ ? *model_ : fit_);
  }
  [[nodiscard]] bool is_ended() const { return model_.has_value(); }
  [[nodiscard]] bool is_model() const { return is_model_; }

 private:
  [[nodiscard]] std::unique_lock<std::mutex> locked() {
    std::unique_lock lock(busy_, std::try_to_lock);
    if (lock) return lock;
    const nb::gil_scoped_release released;  // whoever has the lock may need the GIL
    lock.lock();
    return lock;
  }

  std::array<Fit*, 2> both() { return {&fit_, model_ ? &*model_ : nullptr}; }

  void set_groups() {
    for (Fit* fit : both())
      if (fit) fit->set_groups(columns_.names(), true);
  }

  const Prediction& step(const DataRow& row, bool learn) {
    if (!learn) return (model_ ? *model_ : fit_).predict(row);
    model_.reset();
    return fit_.learn(row);
  }

  void require_trainable() const {
    if (is_model_)
      throw ConfigError(
          "got a model from a file, which has what predictions need; expected a pickled one, which has "
          "what training goes on from");
  }

  void require_finite() {
    if (std::isfinite(fit_.outer_loss())) return;
    const std::string what =
        fmt::format("round {}: the loss is not a number; a smaller learning_rate may help", fit_.rounds());
    PyErr_SetString(nb::module_::import_("obolus._native").attr("DivergedError").ptr(), what.c_str());
    throw nb::python_error();
  }

  std::string finished_bytes() {
    Archive saved;
    fit_.fields(saved);
    Archive a(saved.bytes());
    Fit copy(fit_.options());
    copy.fields(a);
    copy.finish();
    return fit::model_bytes(copy);
  }
  std::string model_text() {
    if (is_model_) return fit::model_bytes(fit_);
    return model_ ? fit::model_bytes(*model_) : finished_bytes();
  }

  // What was predicted, one line of numbers per row: probabilities by class, or one number. Classes that come up on
  // the way add columns; before, their probability is 0.
  nb::object each(std::size_t rows, const Labels& labels, bool learn, bool judge, const auto& features) {
    std::vector<double> flat;
    std::vector<std::size_t> ends;
    const bool classes = fit_.options().task == FitTask::classes;
    {
      const nb::gil_scoped_release released;
      for (std::size_t i = 0; i < rows && (!learn || std::isfinite(fit_.outer_loss())); ++i) {
        row_.features.clear();
        features(i, row_);
        labels.put(i, row_);
        const Prediction& p = step(row_, learn);
        if (!judge) continue;
        if (classes) flat.insert(flat.end(), p.probabilities.begin(), p.probabilities.end());
        else flat.push_back(p.number);
        ends.push_back(flat.size());
      }
    }
    if (learn) require_finite();
    if (!judge) return nb::none();
    const std::size_t width = classes ? fit_.classes().size() : 1;
    const nb::object array =
        nb::module_::import_("numpy").attr("zeros")(nb::make_tuple(rows, width), nb::str("float64"));
    auto* out = nb::cast<nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>>(array).data();
    for (std::size_t i = 0, from = 0; i < rows; from = ends[i++])
      std::copy(flat.begin() + static_cast<std::ptrdiff_t>(from), flat.begin() + static_cast<std::ptrdiff_t>(ends[i]),
                out + i * width);
    return array;
  }

  void fields(Archive& a) {
    a("fit", fit_);
    if (a.loading()) {
      columns_.take(fit_);
      is_model_ = false;
    }
    columns_.fields(a);
  }

  Fit fit_;
  std::optional<Fit> model_;
  bool is_model_ = false;  // fit_ is from a file
  DataRow row_;
  std::mutex busy_;
  StreamColumns columns_;
};

Fields hyperparameters(Stream& self) {
  Fields d;
  for (const FitHyperparameter& h : self.ask([](Fit& fit) { return fit.hyperparameters(); }))
    d[nb::str(h.name.c_str())] = h.value;
  return d;
}

// Those that differ from their defaults.
Fields options(Stream& self) {
  Fields d;
  FitOptions given = self.ask([](Fit& fit) { return fit.options(); }), defaults;
  const auto as_object = []<class T>(const T& value) -> nb::object {
    if constexpr (std::is_enum_v<T>) {
      for (const auto& [one, name] : EnumNames<T>::values)
        if (one == value) return nb::str(name.data(), name.size());
      return nb::none();
    } else {
      return nb::cast(value);
    }
  };
  given.describe([&](std::string_view name, auto& value, std::string_view, Range = {}) {
    d[nb::str(name.data(), name.size())] = as_object(value);
  });
  defaults.describe([&](std::string_view name, auto& value, std::string_view, Range = {}) {
    const nb::str key(name.data(), name.size());
    if (nb::object(d[key]).equal(as_object(value))) PyDict_DelItem(d.ptr(), key.ptr());
  });
  return d;
}

}  // namespace

void bind_stream(nb::module_& m) {
  m.def("class_text", [](const std::string& label) { return fit::canonical_label(label); }, nb::arg("label"));
  nb::class_<Stream>(m, "Stream")
      .def(nb::init<const std::string&>(), nb::arg("config"))
      .def_static(
          "from_model",
          [](const nb::bytes& bytes, const std::string& name) {
            return new Stream(fit::model_from(std::string(bytes.c_str(), bytes.size()), name));
          },
          nb::arg("bytes"), nb::arg("name"))
      .def("table", &Stream::table, nb::arg("numbers"), nb::arg("columns"), nb::arg("codes").none(), nb::arg("texts"),
           nb::arg("targets").none(), nb::arg("weights").none(), nb::arg("learn"), nb::arg("judge"),
           nb::arg("in_turn") = false)
      .def("sparse", &Stream::sparse, nb::arg("starts"), nb::arg("indices"), nb::arg("values"), nb::arg("codes").none(),
           nb::arg("texts"), nb::arg("targets").none(), nb::arg("weights").none(), nb::arg("learn"), nb::arg("judge"))
      .def("one", &Stream::one, nb::arg("features"), nb::arg("label"), nb::arg("weight"), nb::arg("learn"))
      .def("set_label_name", &Stream::set_label_name, nb::arg("name"))
      .def("end", &Stream::end)
      .def("model", &Stream::model)
      .def("write", &Stream::write, nb::arg("path"))
      .def("state", &Stream::state)
      .def("restore", &Stream::restore, nb::arg("state"), nb::arg("model").none())
      .def_prop_ro("is_ended", &Stream::is_ended)
      .def_prop_ro("is_model", &Stream::is_model)
      .def_prop_ro("classes", [](Stream& self) { return self.ask([](Fit& fit) { return fit.classes(); }); })
      .def_prop_ro("rows", [](Stream& self) { return self.ask([](Fit& fit) { return fit.rows(); }); })
      .def_prop_ro("features", [](Stream& self) { return self.ask([](Fit& fit) { return fit.features(); }); })
      .def_prop_ro("groups", [](Stream& self) { return self.ask([](Fit& fit) { return fit.groups(); }); })
      .def_prop_ro("numeric_columns", [](Stream& self) { return self.ask([](Fit& fit) { return fit.columns(true); }); })
      .def_prop_ro("category_columns",
                   [](Stream& self) { return self.ask([](Fit& fit) { return fit.columns(false); }); })
      .def_prop_ro("hyperparameters", &hyperparameters)
      .def_prop_ro("options", &options);
}

}  // namespace obolus::python
