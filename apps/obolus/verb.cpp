#include "verb.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>

#include "obolus/core/nearest.hpp"
#include "option_flags.hpp"
#include "verbs.hpp"

namespace obolus::cli {
namespace {

// The verb or option nearest to the first word that is neither.
std::string hint(const CLI::App& app, int argc, char** argv) {
  std::vector<std::string> verbs, options;
  const CLI::App* chosen = &app;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    verbs.clear();
    for (const CLI::App* verb : chosen->get_subcommands({})) verbs.push_back(verb->get_name());
    if (std::find(verbs.begin(), verbs.end(), word) != verbs.end()) chosen = chosen->get_subcommand(word);
    else if (!verbs.empty() && !word.starts_with('-')) return suggestion(word, verbs);
    if (!word.starts_with("--")) continue;
    options.clear();
    for (const CLI::Option* option : chosen->get_options())
      for (const std::string& name : option->get_lnames()) options.push_back("--" + name);
    const std::string name = word.substr(0, word.find('='));
    if (std::find(options.begin(), options.end(), name) == options.end()) return suggestion(name, options);
  }
  return {};
}

// CLI11 indents what follows a line end, but does not break lines itself.
std::string wrapped(const std::string& help) {
  constexpr std::size_t width = 90;  // beside names of 30 columns
  std::string text;
  std::size_t used = 0;
  for (std::size_t at = 0; at < help.size();) {
    const std::size_t end = std::min(help.find(' ', at), help.size());
    const bool fits = used + 1 + (end - at) <= width;
    if (at > 0) text += fits ? ' ' : '\n';
    used = (fits ? used + 1 : 0) + (end - at);
    text.append(help, at, end - at);
    at = end + 1;
  }
  return text;
}

template <class Number>
Check between(Number min, Number max, const char* what) {
  const bool bounded = max < std::numeric_limits<Number>::max();
  const std::string range = bounded ? fmt::format("{} to {}", min, max) : fmt::format("{} or more", min);
  return {[=](const std::string& value) {
            Number number{};
            if (CLI::detail::lexical_cast(value, number) && number >= min && number <= max) return std::string();
            return fmt::format("got '{}', expected {}{}{}", value, what, bounded ? " from " : ", ", range);
          },
          range};
}

}  // namespace

Check whole_number(std::int64_t min, std::int64_t max) { return between(min, max, "a whole number"); }
Check number_between(double min, double max) { return between(min, max, "a number"); }
Check one_of(const std::vector<std::string>& names) {
  return {[names](const std::string& value) { return fault_of_name(value, names); }};
}

void refuse_value(const std::string& flag, const std::string& fault) { throw CLI::ValidationError(flag, fault); }

Flag* Flag::check(const Check& check) {
  option_->check(check.fault, check.description);
  return this;
}
Flag* Flag::required() {
  option_->required();
  return this;
}
Flag* Flag::excludes(const Flag* other) {
  option_->excludes(other->option_);
  return this;
}
Flag* Flag::group(const std::string& name) {
  option_->group(name);
  return this;
}
Flag* Flag::type_name(const std::string& name) {
  option_->type_name(name);
  return this;
}
Flag* Flag::default_str(const std::string& text) {
  option_->default_str(text);
  return this;
}
Flag* Flag::capture_default_str() {
  option_->capture_default_str();
  return this;
}
Flag* Flag::one_value(char delimiter) {
  option_->allow_extra_args(false);
  if (delimiter != 0) option_->delimiter(delimiter);
  return this;
}
Flag* Flag::optional_value() {
  option_->expected(0, 1);
  return this;
}

Verb::Verb(const std::string& name, const std::string& help)
    : owned_(std::make_unique<CLI::App>(help, name)), app_(owned_.get()) {
  app_->require_subcommand(0, 1);
  app_->set_help_flag("-h,--help", "print this help");
}
Verb::Verb(CLI::App& app) : app_(&app) {}
Verb::~Verb() = default;

Verb* Verb::add_subcommand(const std::string& name, const std::string& help) {
  verbs_.push_back(std::unique_ptr<Verb>(new Verb(*app_->add_subcommand(name, wrapped(help)))));
  verbs_.back()->footer("");  // not its parent's
  return verbs_.back().get();
}

Flag* Verb::kept(CLI::Option* option) { return flags_.emplace_back(std::make_unique<Flag>(*option)).get(); }

template <class T>
Flag* Verb::add_option(const std::string& name, T& value, const std::string& help) {
  return kept(app_->add_option(name, value, wrapped(help)));
}
template Flag* Verb::add_option(const std::string&, std::string&, const std::string&);
template Flag* Verb::add_option(const std::string&, std::vector<std::string>&, const std::string&);
template Flag* Verb::add_option(const std::string&, std::vector<std::int64_t>&, const std::string&);
template Flag* Verb::add_option(const std::string&, int&, const std::string&);
template Flag* Verb::add_option(const std::string&, std::int64_t&, const std::string&);
template Flag* Verb::add_option(const std::string&, std::uint64_t&, const std::string&);
template Flag* Verb::add_option(const std::string&, double&, const std::string&);
template Flag* Verb::add_option(const std::string&, std::optional<double>&, const std::string&);
template Flag* Verb::add_option(const std::string&, std::optional<std::int64_t>&, const std::string&);

Flag* Verb::add_option_function(const std::string& name, const std::function<void(const std::string&)>& take,
                                const std::string& help) {
  return kept(app_->add_option_function<std::string>(name, take, wrapped(help)));
}
Flag* Verb::add_flag(const std::string& name, bool& value, const std::string& help) {
  return kept(app_->add_flag(name, value, wrapped(help)));
}
void Verb::footer(const std::string& text) { app_->footer(text); }
void Verb::callback(std::function<void()> run) { app_->callback(std::move(run)); }
void Verb::require_subcommand() { app_->require_subcommand(1); }
void Verb::version(const std::string& text) { app_->set_version_flag("--version", text, "print the version"); }

int Verb::parse(int argc, char** argv) {
  try {
    app_->parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app_->exit(e);
    fmt::print(stderr, "obolus: {}{}\nRun with --help to see what is possible.\n", e.what(), hint(*app_, argc, argv));
    return usage_error;
  }
  if (!app_->get_subcommands().empty()) return success;
  fmt::print(stderr, "{}", app_->help());
  return usage_error;
}

}  // namespace obolus::cli
