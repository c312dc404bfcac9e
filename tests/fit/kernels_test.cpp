#include "kernels/fit/kernels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "obolus/core/memory.hpp"
#include "obolus/core/rng.hpp"
#include "obolus/core/to_size.hpp"
#include "tests/kernels/instruction_sets.hpp"

namespace obolus {
namespace {

using kernels::fit::Batch;
using kernels::fit::Entry;
using kernels::fit::Kernels;
using kernels::fit::Part;

template <class S>
using Numbers = std::vector<S, LineAllocator<S>>;

template <class S>
std::vector<const Kernels<S>*> all_kernels() {
  std::vector<const Kernels<S>*> all;
  for (const auto set : kernels::instruction_sets()) all.push_back(&kernels::fit::table<S>(set));
  return all;
}

template <class S>
constexpr double epsilon = static_cast<double>(std::numeric_limits<S>::epsilon());

template <class S>
Numbers<S> random_numbers(Rng& rng, std::size_t count, double size = 1) {
  Numbers<S> numbers(count);
  for (S& n : numbers) n = static_cast<S>(size * rng.normal());
  return numbers;
}

std::vector<Entry> random_entries(Rng& rng, int count, int slots) {
  std::vector<Entry> entries;
  for (int i = 0; i < count; ++i)
    entries.push_back(
        {static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(slots))), static_cast<float>(rng.normal())});
  return entries;
}

template <class S>
class FitKernelsOf : public testing::Test {};
using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(FitKernelsOf, Scalars);

constexpr int widths[] = {4, 8, 16, 32, 48, 64, 80, 144};
constexpr int counts[] = {0, 1, 2, 7, 12, 13, 40};

// A sum of n products is n roundings off at most, each of the size of the sum of their absolute values so far.
TYPED_TEST(FitKernelsOf, GatherTheWeightedSumOfRows) {
  using S = TypeParam;
  constexpr int slots = 23;
  Rng rng(1);
  for (const int width : widths)
    for (const int count : counts) {
      const auto entries = random_entries(rng, count, slots);
      const auto w = to_size(width);
      const auto weights = random_numbers<S>(rng, slots * w), start = random_numbers<S>(rng, w);
      for (const auto* k : all_kernels<S>()) {
        Numbers<S> sum = start;
        k->gather(entries.data(), count, weights.data(), width, sum.data());
        for (std::size_t c = 0; c < w; ++c) {
          double expected = static_cast<double>(start[c]), size = std::abs(expected);
          for (const Entry& e : entries) {
            const double term = static_cast<double>(e.value) * static_cast<double>(weights[to_size(e.slot) * w + c]);
            expected += term;
            size += std::abs(term);
          }
          ASSERT_NEAR(static_cast<double>(sum[c]), expected, (count + 1) * size * epsilon<S>)
              << k->name << ' ' << width << ' ' << count;
        }
      }
    }
}

TYPED_TEST(FitKernelsOf, AbsorbAddsTheRowsOfALine) {
  using S = TypeParam;
  Rng rng(2);
  for (const int width : widths)
    for (const int count : counts) {
      const auto w = to_size(width), n = to_size(count);
      const auto start = random_numbers<S>(rng, w), pushes = random_numbers<S>(rng, n * w);
      auto line = random_numbers<S>(rng, n);
      for (std::size_t k = 0; k < n; k += 2) line[k] = S(0);
      const S scale = S(0.7);
      std::vector<double> expected(start.begin(), start.end()), size(expected);
      for (double& s : size) s = std::abs(s);
      for (std::size_t k = 0; k < n; ++k)
        for (std::size_t c = 0; c < w; ++c) {
          const double term =
              static_cast<double>(scale) * static_cast<double>(line[k]) * static_cast<double>(pushes[k * w + c]);
          expected[c] += term;
          size[c] += std::abs(term);
        }
      for (const auto* k : all_kernels<S>()) {
        Numbers<S> row = start;
        k->absorb(line.data(), count, scale, pushes.data(), row.data(), width);
        for (std::size_t c = 0; c < w; ++c)
          ASSERT_NEAR(static_cast<double>(row[c]), expected[c], (count + 3) * size[c] * epsilon<S>)
              << k->name << ' ' << width << ' ' << count;
      }
    }
}

// Two products and a sum.
TYPED_TEST(FitKernelsOf, DecayMultipliesARowAndMovesSomeParts) {
  using S = TypeParam;
  Rng rng(7);
  const S factor = S(0.83);
  for (const auto& [parts, outputs] :
       {std::pair{1, 1}, {3, 1}, {4, 1}, {2, 3}, {4, 2}, {5, 3}, {4, 4}, {5, 7}, {4, 40}})
    for (int count = 0; count < std::min(parts, 3); ++count) {
      const int lanes = parts * outputs;
      const auto o = to_size(outputs);
      const auto start = random_numbers<S>(rng, to_size(lanes) + 16);
      std::vector<kernels::fit::Moved<S>> moved;
      for (int m = 0; m < count; ++m) moved.push_back({parts - 1 - m, static_cast<S>(rng.normal())});
      for (const auto* k : all_kernels<S>()) {
        Numbers<S> row = start;
        k->decay(row.data(), lanes, outputs, factor, moved.data(), count);
        for (std::size_t lane = 0; lane < row.size(); ++lane) {
          if (lane >= to_size(lanes)) {
            ASSERT_EQ(row[lane], start[lane]) << k->name << ": Σ value² and padding stay";
            continue;
          }
          const auto by = static_cast<double>(factor);
          double expected = by * static_cast<double>(start[lane]), size = std::abs(expected);
          for (const auto& m : moved)
            if (lane / o == to_size(m.part)) {
              const double term = static_cast<double>(m.more) * by * static_cast<double>(start[lane % o]);
              expected += term;
              size += std::abs(term);
            }
          ASSERT_NEAR(static_cast<double>(row[lane]), expected, 3 * size * epsilon<S>)
              << k->name << ' ' << parts << ' ' << outputs << ", lane " << lane;
        }
      }
    }
}

TYPED_TEST(FitKernelsOf, ProductAddsUpAsManyProductsAsItIsTold) {
  using S = TypeParam;
  Rng rng(8);
  for (const int count : {4, 8, 12, 16, 20, 64, 100}) {
    const auto n = to_size(count);
    const auto row = random_numbers<S>(rng, n + 4), by = random_numbers<S>(rng, n + 4);
    double expected = 0, size = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double term = static_cast<double>(row[i]) * static_cast<double>(by[i]);
      expected += term;
      size += std::abs(term);
    }
    for (const auto* k : all_kernels<S>())
      EXPECT_NEAR(static_cast<double>(k->product(row.data(), by.data(), count)), expected, count * size * epsilon<S>)
          << k->name << ' ' << count;
  }
}

TYPED_TEST(FitKernelsOf, AddLineAddsAMultiple) {
  using S = TypeParam;
  Rng rng(3);
  for (const int count : {4, 8, 16, 32, 48}) {
    const auto line = random_numbers<S>(rng, to_size(count)), start = random_numbers<S>(rng, to_size(count));
    const S by = S(1.7);
    for (const auto* k : all_kernels<S>()) {
      Numbers<S> sum = start;
      k->add_line(line.data(), by, count, sum.data());
      for (std::size_t i = 0; i < sum.size(); ++i) {
        const double term = static_cast<double>(by) * static_cast<double>(line[i]);
        ASSERT_NEAR(static_cast<double>(sum[i]), static_cast<double>(start[i]) + term,
                    2 * (std::abs(term) + std::abs(static_cast<double>(start[i]))) * epsilon<S>)
            << k->name;
      }
    }
  }
}

// A batch with everything in it: parts of all kinds, odd numbers of rows, replayed ones, padding.
template <class S>
struct Example {
  int rows, stride, parts, outputs;
  std::vector<std::int32_t> label;
  std::vector<Part> part;
  std::vector<int> part_class;
  bool shifted;
  Numbers<S> target, weight, replayed, recent, shift, scale, logits, push, total, scratch, gram;

  Example(Rng& rng, int r, int o, bool shifts, bool one_output)
      : rows(r),
        stride((r + kernels::fit::rows_unit - 1) / kernels::fit::rows_unit * kernels::fit::rows_unit),
        outputs(o),
        shifted(shifts) {
    part = {Part::weights, Part::rate, Part::implicit, Part::replay, Part::recent};
    part_class.assign(part.size(), 0);
    for (int c = 0; shifts && !one_output && c < o; ++c)
      for (const Part kind : {Part::shift, Part::scale}) {
        part.push_back(kind);
        part_class.push_back(c);
      }
    parts = static_cast<int>(part.size());
    const auto n = to_size(stride), lanes = to_size(parts * outputs) * n;
    label.assign(n, -1);
    weight.assign(n, S(0));
    replayed.assign(n, S(0));
    recent.assign(n, S(0));
    target.assign(n, S(0));
    for (std::size_t i = 0; i < to_size(rows); ++i) {
      label[i] = static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(std::max(outputs, 2))));
      weight[i] = static_cast<S>(rng.uniform(0.1, 1));
      replayed[i] = i % 3 == 2 ? S(1) : S(0);
      recent[i] = i % 3 == 1 ? S(1) : S(0);
      target[i] = static_cast<S>(rng.normal());
    }
    shift = random_numbers<S>(rng, to_size(outputs));
    scale = random_numbers<S>(rng, to_size(outputs), 0.2);
    for (S& s : scale) s += S(1);
    logits = random_numbers<S>(rng, lanes, 3);
    push.resize(lanes);
    total = random_numbers<S>(rng, lanes);
    for (std::size_t i = 0; i < lanes; ++i)
      if (i % n >= to_size(rows)) logits[i] = S(0);
    scratch.resize(to_size(outputs + 2) * n);
    gram = random_numbers<S>(rng, n * n);
  }
  Batch<S> batch() {
    return {rows,
            stride,
            parts,
            outputs,
            label.data(),
            target.data(),
            weight.data(),
            replayed.data(),
            recent.data(),
            part.data(),
            part_class.data(),
            shifted ? shift.data() : nullptr,
            shifted ? scale.data() : nullptr,
            logits.data(),
            push.data(),
            total.data(),
            scratch.data()};
  }
};

// Each number of `got` within `roundings` ε of the expected one, numbers being of the size of `expected`'s largest.
// Padding stays 0.
template <class S>
void expect_near(const Numbers<S>& got, const Numbers<S>& expected, const Example<S>& of, double roundings,
                 const char* name) {
  double size = 1;
  for (const S n : expected) size = std::max(size, std::abs(static_cast<double>(n)));
  for (std::size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(static_cast<double>(got[i]), static_cast<double>(expected[i]), roundings * size * epsilon<S>)
        << name << ": lane " << i / to_size(of.stride) << ", row " << i % to_size(of.stride) << " of " << of.rows;
}

constexpr int row_counts[] = {1, 2, 15, 16, 17, 31, 33, 67};

// The same formula with multiplications and additions in another order or fused: the polynomial of the exponential
// has 14 of each, and a push adds up `outputs` products.
TYPED_TEST(FitKernelsOf, ResidualsAreTheSameWithAllInstructions) {
  using S = TypeParam;
  Rng rng(4);
  for (const int rows : row_counts)
    for (const int outputs : {1, 2, 3, 5, 10})
      for (const bool shifted : {false, true}) {
        const Example<S> start(rng, rows, outputs, shifted, outputs == 1);
        for (const auto member :
             {&Kernels<S>::residuals_softmax, &Kernels<S>::residuals_logistic, &Kernels<S>::residuals_squared}) {
          if ((member == &Kernels<S>::residuals_softmax) == (outputs == 1)) continue;
          Example<S> expected = start;
          (kernels::fit::table<S>(kernels::Instructions::portable).*member)(expected.batch());
          for (const auto* k : all_kernels<S>()) {
            Example<S> got = start;
            (k->*member)(got.batch());
            expect_near<S>(got.push, expected.push, start, 40 + 4 * outputs, k->name);
            EXPECT_EQ(got.logits, start.logits) << k->name;
            EXPECT_EQ(got.total, start.total) << k->name;
          }
        }
      }
}

// Probabilities of the definition in double, at logits that overflow when they are not shifted first.
TYPED_TEST(FitKernelsOf, ResidualsAreProbabilitiesLessTheTruth) {
  using S = TypeParam;
  Rng rng(5);
  for (const double size : {0.1, 3.0, 40.0, 1e4}) {
    Example<S> e(rng, 21, 4, true, false), one(rng, 21, 1, false, true);
    for (Example<S>* of : {&e, &one})
      for (S& l : of->logits) l *= static_cast<S>(size / 3);
    for (const auto* k : all_kernels<S>()) {
      k->residuals_softmax(e.batch());
      k->residuals_logistic(one.batch());
      for (std::size_t r = 0; r < 21; ++r) {
        double max = -1e300, sum = 0;
        std::vector<double> u;
        for (std::size_t c = 0; c < 4; ++c) {
          // Rounded to S like the kernel's: at 1e4 the difference of two logits is not known better.
          u.push_back(static_cast<double>(std::fma(e.scale[c], e.logits[c * 32 + r], e.shift[c])));
          max = std::max(max, u.back());
        }
        for (const double l : u) sum += std::exp(l - max);
        for (std::size_t c = 0; c < 4; ++c) {
          const double p = std::exp(u[c] - max) / sum,
                       w = static_cast<double>(e.weight[r]) * static_cast<double>(e.scale[c]);
          const double expected = w * (p - (e.label[r] == static_cast<int>(c) ? 1 : 0));
          // A rounding of the logits moves a probability by their size times ε, the rest is that of the exponential.
          ASSERT_NEAR(static_cast<double>(e.push[c * 32 + r]), expected, (40 + 4 * size) * w * epsilon<S>)
              << k->name << ' ' << size;
        }
        const double p = 1 / (1 + std::exp(-static_cast<double>(one.logits[r])));
        ASSERT_NEAR(static_cast<double>(one.push[r]),
                    static_cast<double>(one.weight[r]) * (p - (one.label[r] == 1 ? 1 : 0)), 40 * epsilon<S>)
            << k->name << ' ' << size;
      }
    }
  }
}

TYPED_TEST(FitKernelsOf, AStepGoesDownTheGramMatrixTimesThePush) {
  using S = TypeParam;
  Rng rng(6);
  const S alpha = S(0.3);
  for (const int rows : row_counts)
    for (const int outputs : {1, 3, 4}) {
      Example<S> start(rng, rows, outputs, false, outputs == 1);
      const auto n = to_size(start.stride);
      start.push = random_numbers<S>(rng, start.push.size());
      for (std::size_t i = 0; i < start.push.size(); ++i)
        if (i % n >= to_size(rows)) start.push[i] = S(0);
      for (const auto* k : all_kernels<S>()) {
        Example<S> got = start;
        k->step(got.batch(), start.gram.data(), alpha);
        for (std::size_t lane = 0; lane < start.logits.size() / n; ++lane)
          for (std::size_t r = 0; r < to_size(rows); ++r) {
            double sum = 0, size = 0;
            for (std::size_t i = 0; i < to_size(rows); ++i) {
              const double term =
                  static_cast<double>(start.gram[i * n + r]) * static_cast<double>(start.push[lane * n + i]);
              sum += term;
              size += std::abs(term);
            }
            const auto a = static_cast<double>(alpha), from = static_cast<double>(start.logits[lane * n + r]);
            ASSERT_NEAR(static_cast<double>(got.logits[lane * n + r]), from - a * sum,
                        ((rows + 1) * a * size + std::abs(from)) * epsilon<S>)
                << k->name << ", lane " << lane << ", row " << r << " of " << rows;
            const double before = static_cast<double>(start.total[lane * n + r]),
                         push = static_cast<double>(start.push[lane * n + r]);
            ASSERT_NEAR(static_cast<double>(got.total[lane * n + r]), before + a * push,
                        2 * (std::abs(before) + std::abs(push)) * epsilon<S>);
          }
        EXPECT_EQ(got.push, start.push);
      }
    }
}

}  // namespace
}  // namespace obolus
