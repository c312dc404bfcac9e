// A verb of the command line and its flags. Only verb.cpp includes CLI11, which parses them: including it costs a file
// 7 s of compilation.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace obolus::cli {

// What a value must be. `fault` says what is wrong with a value, and nothing if it is fine.
struct Check {
  std::function<std::string(const std::string& value)> fault;
  std::string description = {};  // for the help
};
[[nodiscard]] Check whole_number(std::int64_t min, std::int64_t max = std::numeric_limits<std::int64_t>::max());
[[nodiscard]] Check number_between(double min, double max);
[[nodiscard]] Check one_of(const std::vector<std::string>& names);

class Flag {
 public:
  explicit Flag(CLI::Option& option) : option_(&option) {}

  Flag* check(const Check& check);
  Flag* required();
  Flag* excludes(const Flag* other);
  Flag* group(const std::string& name);
  Flag* type_name(const std::string& name);
  Flag* default_str(const std::string& text);
  Flag* capture_default_str();          // the help shows the value as it is now
  Flag* one_value(char delimiter = 0);  // of a list: one value per flag, which may be several between delimiters
  Flag* optional_value();               // the flag may come without one

 private:
  CLI::Option* option_;
};

class Verb {
 public:
  Verb(const std::string& name, const std::string& help);  // the program itself
  ~Verb();
  Verb(const Verb&) = delete;
  Verb& operator=(const Verb&) = delete;

  Verb* add_subcommand(const std::string& name, const std::string& help);
  // `value` lives as long as the verb. A name without dashes is that of a positional argument.
  template <class T>
  Flag* add_option(const std::string& name, T& value, const std::string& help);
  Flag* add_option_function(const std::string& name, const std::function<void(const std::string&)>& take,
                            const std::string& help);
  Flag* add_flag(const std::string& name, bool& value, const std::string& help);
  void footer(const std::string& text);
  void callback(std::function<void()> run);
  void require_subcommand();
  void version(const std::string& text);

  // Parses and runs the callback of the verb called, or prints help or what is wrong. The exit code is 0 unless the
  // arguments are wrong.
  [[nodiscard]] int parse(int argc, char** argv);

 private:
  explicit Verb(CLI::App& app);
  Flag* kept(CLI::Option* option);

  std::unique_ptr<CLI::App> owned_;
  CLI::App* app_;
  std::vector<std::unique_ptr<Flag>> flags_;
  std::vector<std::unique_ptr<Verb>> verbs_;
};

// Refuses a value of the flag.
[[noreturn]] void refuse_value(const std::string& flag, const std::string& fault);

}  // namespace obolus::cli
