// Megabytes a second of the row readers, one core, from memory: the minimum of many passes over some 16 MB a format.
//     build/bench/bench/rows_speed [PASSES]
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "obolus/core/rng.hpp"
#include "obolus/data/rows.hpp"

namespace {

using namespace obolus;

constexpr std::size_t text_size = 16'000'000;

// The text stays where it is: a copy of each pass would be timed too.
class Borrowed : public ByteSource {
 public:
  explicit Borrowed(std::string_view text) : text_(text) {}
  [[nodiscard]] std::size_t read(std::span<char> to) override {
    const std::size_t size = std::min(to.size(), text_.size());
    std::memcpy(to.data(), text_.data(), size);
    text_.remove_prefix(size);
    return size;
  }

 private:
  std::string_view text_;
};

std::string grown(std::string text, const std::function<void(std::string&)>& add_row) {
  while (text.size() < text_size) add_row(text);
  return text;
}

double number(Rng& rng, double scale) { return scale * (static_cast<double>(rng.below(2'000'001)) / 1e6 - 1); }

// Rows as tf-idf leaves them: 100 ascending indices, values of 6 digits.
std::string svmlight() {
  Rng rng(1);
  return grown("", [&](std::string& text) {
    text += rng.below(2) == 0 ? "-1" : "+1";
    std::uint64_t index = 0;
    for (int i = 0; i < 100; ++i)
      fmt::format_to(std::back_inserter(text), " {}:{:.6f}", index += 1 + rng.below(900),
                     static_cast<double>(rng.below(1'000'000)) / 1e6);
    text += '\n';
  });
}

// Full precision, as %.17g and Python's repr write it.
std::string long_numbers() {
  Rng rng(2);
  return grown("", [&](std::string& text) {
    text += "1";
    for (int i = 1; i <= 100; ++i)
      fmt::format_to(std::back_inserter(text), " {}:{}", i,
                     static_cast<double>(rng.below(std::uint64_t{1} << 53)) / 9e15);
    text += '\n';
  });
}

std::string words() {
  Rng rng(3);
  std::vector<std::string> vocabulary(30'000);
  for (std::string& word : vocabulary)
    for (std::uint64_t left = 2 + rng.below(4) + rng.below(6); left > 0; --left)
      word += static_cast<char>('a' + rng.below(26));
  return grown("", [&](std::string& text) {
    text += rng.below(2) == 0 ? "-1 |w" : "1 |w";
    for (int i = 0; i < 100; ++i) {
      text += ' ';
      text += vocabulary[rng.below(1 + rng.below(vocabulary.size()))];
      if (rng.below(10) == 0) fmt::format_to(std::back_inserter(text), ":{}", 1 + rng.below(9));
    }
    text += '\n';
  });
}

std::string header(int columns) {
  std::string text;
  for (int i = 0; i < columns; ++i) text += fmt::format("column{},", i);
  return text + "label\n";
}

std::string csv_numbers() {
  Rng rng(4);
  return grown(header(20), [&](std::string& text) {
    for (int i = 0; i < 20; ++i)
      fmt::format_to(std::back_inserter(text), "{:.{}f},", number(rng, i % 3 == 0 ? 1'000 : 1), i % 3 == 0 ? 2 : 6);
    text += rng.below(2) == 0 ? "0\n" : "1\n";
  });
}

std::string csv_mixed() {
  Rng rng(5);
  const std::vector<std::string> kinds{"red", "dark blue", "Married-civ-spouse", "HS-grad", "United-States", "NA"};
  return grown(header(20), [&](std::string& text) {
    for (int i = 0; i < 20; ++i) {
      if (i % 2 == 0) fmt::format_to(std::back_inserter(text), "{},", rng.below(100'000));
      else if (i % 5 == 0) fmt::format_to(std::back_inserter(text), "\"{}, {}\",", kinds[rng.below(5)], rng.below(50));
      else text += kinds[rng.below(kinds.size())] + ",";
    }
    text += rng.below(2) == 0 ? "<=50K\n" : ">50K\n";
  });
}

// The same rows: cells that are numbers as such, the last column as the label.
std::string json_of(const std::string& csv) {
  const auto next = [](std::string_view& line) {
    const bool quoted = line.starts_with('"');
    const std::size_t end = line.find(',', quoted ? line.find('"', 1) : 0);
    std::string cell(line.substr(0, end));
    line.remove_prefix(end == std::string_view::npos ? line.size() : end + 1);
    return quoted ? cell.substr(1, cell.size() - 2) : cell;
  };
  std::string json;
  std::vector<std::string> names;
  for (std::size_t begin = 0, end = 0; begin < csv.size(); begin = end + 1) {
    end = csv.find('\n', begin);
    std::string_view line = std::string_view(csv).substr(begin, end - begin);
    const bool header = names.empty();
    for (std::size_t i = 0; !line.empty(); ++i) {
      const std::string cell = next(line);
      if (header) {
        names.push_back(cell);
        continue;
      }
      const bool number = cell.find_first_not_of("-.0123456789") == std::string::npos;
      const char* quote = number ? "" : "\"";
      fmt::format_to(std::back_inserter(json), "{}\"{}\":{}{}{}", i == 0 ? '{' : ',', names[i], quote, cell, quote);
    }
    if (!header) json += "}\n";
  }
  return json;
}

struct Case {
  const char* name;
  const char* format;
  std::string text;
  double best = std::numeric_limits<double>::infinity();
  std::size_t rows = 0, features = 0;
};

void pass(Case& c) {
  c.rows = c.features = 0;
  const auto start = std::chrono::steady_clock::now();
  const auto reader = read_rows(std::make_unique<Borrowed>(c.text), "f", {.format = c.format});
  for (DataRow row; reader->next(row); ++c.rows) c.features += row.features.size();
  c.best = std::min(c.best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
}

}  // namespace

int main(int argc, char** argv) {
  const int passes = argc > 1 ? std::atoi(argv[1]) : 20;
  std::vector<Case> cases{{"svmlight, 6 digits", "svmlight", svmlight()},
                          {"svmlight, 16 digits", "svmlight", long_numbers()},
                          {"Vowpal Wabbit, words", "vw", words()},
                          {"CSV, numbers", "csv", csv_numbers()},
                          {"CSV, half categories", "csv", csv_mixed()},
                          {"JSON, numbers", "jsonl", json_of(csv_numbers())},
                          {"JSON, half categories", "jsonl", json_of(csv_mixed())}};
  for (int i = 0; i < passes; ++i)
    for (Case& c : cases) pass(c);
  std::printf("%-22s %8s %10s %12s\n", "", "MB/s", "rows/s", "features/s");
  for (const Case& c : cases)
    std::printf("%-22s %8.0f %10.0f %12.0f\n", c.name, static_cast<double>(c.text.size()) / c.best / 1e6,
                static_cast<double>(c.rows) / c.best, static_cast<double>(c.features) / c.best);
}
