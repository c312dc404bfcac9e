// Agrawal (Agrawal, Imielinski and Swami, IEEE TKDE 5(6), 1993): people who ask for a loan, of group A (class 0) or B.
//
//     salary      uniform on [20000, 150000]
//     commission  0 where salary ≥ 75000, otherwise uniform on [10000, 75000]
//     age         20, …, 80           elevel   level0, …, level4
//     car         car1, …, car20      zipcode  zipcode1, …, zipcode9
//     hvalue      uniform on [0.5, 1.5]·100000·k, k = 9, …, 1 for zipcode1, …, zipcode9
//     hyears      1, …, 30            loan     uniform on [0, 500000]
//
// Group A in concept 1, …, 10, with young = age < 40, old = age ≥ 60, and all bounds included (in thousands):
//     1  young or old
//     2  salary in [50, 100] if young, [25, 75] if old, otherwise [75, 125]
//     3  elevel in 0–1 if young, 2–4 if old, otherwise 1–3
//     4  salary in [25, 75] if young and elevel in 0–1, [50, 100] if young; [50, 100] if old and elevel in 2–4,
//        [25, 75] if old; [50, 100] if elevel in 1–3; otherwise [75, 125]
//     5  loan in [100, 300] if young and salary in [50, 100], [200, 400] if young; [300, 500] if old and salary in
//        [25, 75], [100, 300] if old; [200, 400] if salary in [75, 125]; otherwise [300, 500]
//     6  as 2, for salary + commission
//     7  ⅔(salary + commission) − loan/5 − 20 > 0
//     8  ⅔(salary + commission) − 5·elevel − 20 > 0
//     9  ⅔(salary + commission) − 5·elevel − loan/5 − 10 > 0
//    10  ⅔(salary + commission) − 5·elevel + equity/5 − 10 > 0, equity = hvalue·max(hyears − 20, 0)/10
// This follows MOA; river's port has commissions to 85000 and bounds the salary instead of the loan in 5.
//
// Perturbation p, after the label: v + p·range·u, u uniform on [−1, 1], kept within the range; age and hyears are
// rounded; a commission of 0 stays.
#include <algorithm>
#include <array>
#include <cmath>

#include "data/generators/concepts.hpp"
#include "obolus/data/generators.hpp"

namespace obolus {
namespace {

enum Column : std::size_t { salary, commission, age, elevel, car, zipcode, hvalue, hyears, loan, columns_in_all };

bool within(double v, double min, double max) { return v >= min * 1000.0 && v <= max * 1000.0; }

// What the functions depend on, in the precision of the row.
struct Person {
  explicit Person(const std::vector<float>& x)
      : pay(x[salary]),
        total(double{x[salary]} + double{x[commission]}),
        debt(x[loan]),
        level(x[elevel]),
        equity(double{x[hvalue]} * std::max(double{x[hyears]} - 20.0, 0.0) / 10.0),
        young(x[age] < 40.0F),
        old(x[age] >= 60.0F) {}

  [[nodiscard]] bool level_of_age() const { return young ? level <= 1 : old ? level >= 2 : level >= 1 && level <= 3; }
  [[nodiscard]] bool usual_for_age(double money) const {
    return young ? within(money, 50, 100) : old ? within(money, 25, 75) : within(money, 75, 125);
  }
  [[nodiscard]] bool function4() const {
    if (young) return level_of_age() ? within(pay, 25, 75) : within(pay, 50, 100);
    if (old) return level_of_age() ? within(pay, 50, 100) : within(pay, 25, 75);
    return level_of_age() ? within(pay, 50, 100) : within(pay, 75, 125);
  }
  [[nodiscard]] bool function5() const {
    if (young) return usual_for_age(pay) ? within(debt, 100, 300) : within(debt, 200, 400);
    if (old) return usual_for_age(pay) ? within(debt, 300, 500) : within(debt, 100, 300);
    return usual_for_age(pay) ? within(debt, 200, 400) : within(debt, 300, 500);
  }
  [[nodiscard]] bool in_group_a(std::int64_t function) const {
    const double income = 2.0 * total / 3.0;
    switch (function) {
      case 1: return young || old;
      case 2: return usual_for_age(pay);
      case 3: return level_of_age();
      case 4: return function4();
      case 5: return function5();
      case 6: return usual_for_age(total);
      case 7: return income - debt / 5.0 - 20000.0 > 0.0;
      case 8: return income - 5000.0 * level - 20000.0 > 0.0;
      case 9: return income - 5000.0 * level - debt / 5.0 - 10000.0 > 0.0;
      default: return income - 5000.0 * level + equity / 5.0 - 10000.0 > 0.0;
    }
  }

  double pay, total, debt, level, equity;
  bool young, old;
};

std::vector<std::string> numbered(const std::string& stem, int first, int last) {
  std::vector<std::string> names;
  for (int k = first; k <= last; ++k) names.push_back(stem + std::to_string(k));
  return names;
}

double house_scale(const std::vector<float>& x) { return 100000.0 * (9.0 - double{x[zipcode]}); }

class Agrawal final : public Generator {
 public:
  explicit Agrawal(const AgrawalOptions& options)
      : options_(options), concepts_(options.stream, AgrawalOptions::name, 10) {}

  const std::vector<GeneratedColumn>& columns() const override { return columns_; }
  const std::vector<std::string>& classes() const override { return classes_; }
  std::int64_t concept_of(std::int64_t i) const override { return concepts_.at(i); }

  void row(std::int64_t i, GeneratedRow& out) override {
    Rng rng = concepts_.rng("row", i);
    const std::int64_t function = concepts_.at(i);
    const bool inverted = rng.uniform() < options_.noise;
    const int wanted = options_.share && rng.uniform() < *options_.share ? 1 : 0;
    out.numbers.resize(columns_in_all);
    do {
      draw(rng, out.numbers);
      out.label = Person(out.numbers).in_group_a(function) ? 0 : 1;
    } while (options_.share && out.label != wanted);
    if (inverted) out.label = 1 - out.label;
    if (options_.perturbation > 0.0) perturb(rng, out.numbers);
  }

 private:
  static void draw(Rng& rng, std::vector<float>& x) {
    const auto whole = [&](double first, std::uint64_t n) {
      return static_cast<float>(first + static_cast<double>(rng.below(n)));
    };
    x[salary] = static_cast<float>(rng.uniform(20000.0, 150000.0));
    x[commission] = x[salary] >= 75000.0F ? 0.0F : static_cast<float>(rng.uniform(10000.0, 75000.0));
    x[age] = whole(20, 61);
    x[elevel] = whole(0, 5);
    x[car] = whole(0, 20);
    x[zipcode] = whole(0, 9);
    x[hvalue] = static_cast<float>(house_scale(x) * rng.uniform(0.5, 1.5));
    x[hyears] = whole(1, 30);
    x[loan] = static_cast<float>(rng.uniform(0.0, 500000.0));
  }

  void perturb(Rng& rng, std::vector<float>& x) const {
    const auto moved = [&](Column c, double min, double max) {
      const double v = double{x[c]} + options_.perturbation * (max - min) * rng.uniform(-1.0, 1.0);
      return std::clamp(v, min, max);
    };
    x[salary] = static_cast<float>(moved(salary, 20000.0, 150000.0));
    if (x[commission] > 0.0F) x[commission] = static_cast<float>(moved(commission, 10000.0, 75000.0));
    x[age] = static_cast<float>(std::round(moved(age, 20.0, 80.0)));
    const double house = house_scale(x);
    x[hvalue] = static_cast<float>(moved(hvalue, 0.5 * house, 1.5 * house));
    x[hyears] = static_cast<float>(std::round(moved(hyears, 1.0, 30.0)));
    x[loan] = static_cast<float>(moved(loan, 0.0, 500000.0));
  }

  AgrawalOptions options_;
  Concepts concepts_;
  std::vector<GeneratedColumn> columns_{{.name = "salary"},
                                        {.name = "commission"},
                                        {.name = "age"},
                                        {.name = "elevel", .categories = numbered("level", 0, 4)},
                                        {.name = "car", .categories = numbered("car", 1, 20)},
                                        {.name = "zipcode", .categories = numbered("zipcode", 1, 9)},
                                        {.name = "hvalue"},
                                        {.name = "hyears"},
                                        {.name = "loan"}};
  std::vector<std::string> classes_{"groupA", "groupB"};
};

}  // namespace

std::unique_ptr<Generator> make_generator(const AgrawalOptions& options) {
  validate(options, AgrawalOptions::name);
  return std::make_unique<Agrawal>(options);
}

}  // namespace obolus
