#include "run/trace.hpp"

#include "data/append_format.hpp"

namespace obolus {
namespace {

template <class T>
void append(std::string& line, T number) {
  append_format(line, "{}", number);
}

}  // namespace

template <class S>
const std::string& TraceFormatter::line(const Row& row, const Vector<S>& x, const Vector<S>& y,
                                        const Profile* profile) {
  line_ = R"({"t":)";
  append(line_, row.t);
  for (const RowColumn& column : row_columns) {
    if (column.is(RowColumn::no_trace) || !column.present(row)) continue;
    key(column.name);
    column.visit(row, [&](auto number) { append(line_, number); });
  }
  if (!row.evaluation.empty()) {
    key("evaluation");
    for (char before = '{'; const auto& [name, value] : row.evaluation) {
      append_format(line_, R"({}"{}":{})", before, name, value);
      before = ',';
    }
    line_ += '}';
  }
  if (vectors_ && row.measured) {
    list("x", x);
    list("y", y);
  }
  if (profile && !profile->whole()) {
    key("x_size");
    append(line_, profile->size);
  }
  if (profile) list(profile->whole() ? "x_values" : "x_quantiles", profile->numbers);
  line_ += "}\n";
  return line_;
}

void TraceFormatter::key(std::string_view name) {
  line_ += ",\"";
  line_ += name;
  line_ += "\":";
}

template <class V>
void TraceFormatter::list(std::string_view name, const V& values) {
  key(name);
  line_ += '[';
  for (bool first = true; const auto number : values) {
    if (!first) line_ += ',';
    append(line_, number);
    first = false;
  }
  line_ += ']';
}

template const std::string& TraceFormatter::line(const Row&, const Vector<double>&, const Vector<double>&,
                                                 const Profile*);
template const std::string& TraceFormatter::line(const Row&, const Vector<float>&, const Vector<float>&,
                                                 const Profile*);

}  // namespace obolus
