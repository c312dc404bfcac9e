// The kernels of the instruction sets against each other, and the pieces of all against the standard library.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernels/softmax/kernels.hpp"
#include "obolus/core/rng.hpp"
#include "obolus/problems/lazy_rows.hpp"
#include "obolus/problems/softmax_l2.hpp"
#include "problems/softmax_batch.hpp"
#include "tests/kernels/instruction_sets.hpp"

#define OBOLUS_INSTRUCTIONS test_loops
#define OBOLUS_PACK 32
#include "kernels/softmax/vector.hpp"

namespace {

using namespace obolus;
using kernels::Instructions;
using kernels::softmax::BatchView;
using kernels::softmax::IterateView;
using kernels::softmax::Kernels;
using kernels::softmax::Weights;

template <class S>
constexpr double unit = double(std::numeric_limits<S>::epsilon());

// ---- exp and expm1 --------------------------------------------------------------------------------------------------

// Of x = k ln 2 + r the remainder is rounded to ε r, the polynomial to some 2ε of e^r, the product and the sum to ε:
// 4ε, and the last term left out is below half of one. e^x − 1 = 2^k E + (2^k − 1) cancels for k = −1 by 3 at the most,
// e.g. at −½.
template <class S>
void agrees_with_the_standard_library(S from, S to) {
  namespace loops = kernels::softmax::test_loops;
  using Pack = loops::Wide<S>;
  constexpr int lanes = loops::lanes<S>;
  double worst_exp = 0.0, worst_minus_one = 0.0;
  Rng rng(1);
  for (int i = 0; i < 40'000; ++i) {
    Pack x{};
    for (int k = 0; k < lanes; ++k) {
      S value = S(rng.uniform(double(from), double(to)));
      if (i % 2 == 0) value *= S(std::pow(10.0, rng.uniform(-12.0, 0.0)));  // also near 0
      x[k] = value;
    }
    const Pack e = loops::exponential<Pack>(x), m = loops::exponential_minus_one<Pack>(x);
    for (int k = 0; k < lanes; ++k) {
      const long double exact = std::exp((long double)(x[k])), less = std::expm1((long double)(x[k]));
      worst_exp = std::max(worst_exp, double(std::abs((long double)(e[k]) - exact) / exact));
      if (less != 0) worst_minus_one = std::max(worst_minus_one, double(std::abs(((long double)(m[k]) - less) / less)));
    }
  }
  EXPECT_LE(worst_exp, 4 * unit<S>);
  EXPECT_LE(worst_minus_one, 12 * unit<S>);
}
TEST(SoftmaxKernels, ExpAndExpm1AreTheStandardOnesToAFewUnits) {
  agrees_with_the_standard_library<double>(-700.0, 700.0);
  agrees_with_the_standard_library<double>(-2.0, 2.0);
  agrees_with_the_standard_library<float>(-86.0f, 86.0f);
  agrees_with_the_standard_library<float>(-2.0f, 2.0f);
}

template <class S>
S exp_of(S x) {
  using Pack = kernels::softmax::test_loops::Narrow<S>;
  return kernels::softmax::test_loops::exponential<Pack>(Pack{} + x)[0];
}
TEST(SoftmaxKernels, ExpIsExactAtZeroClampedFarOutAndKeepsNaN) {
  EXPECT_EQ(exp_of(0.0), 1.0);
  EXPECT_EQ(exp_of(0.0f), 1.0f);
  EXPECT_LE(exp_of(-1e6), 1e-300);
  EXPECT_GE(exp_of(-1e6), 0.0);
  EXPECT_LE(exp_of(-1e30f), 1e-37f);
  EXPECT_TRUE(std::isfinite(exp_of(1e6)) && std::isfinite(exp_of(1e30f)));
  EXPECT_TRUE(std::isnan(exp_of(std::nan(""))) && std::isnan(exp_of(std::nanf(""))));
  using Pack = kernels::softmax::test_loops::Wide<double>;
  EXPECT_EQ(kernels::softmax::test_loops::exponential_minus_one<Pack>(Pack{})[0], 0.0);
}

// ---- Sums and maxima over packs -------------------------------------------------------------------------------------

template <class S>
void folds_every_lane() {
  namespace loops = kernels::softmax::test_loops;
  loops::Wide<S> wide{};
  loops::Narrow<S> narrow{};
  S sum = 0;
  for (int i = 0; i < loops::lanes<S>; ++i) {
    wide[i] = S(i + 1);
    sum += S(i + 1);
  }
  for (int i = 0; i < int(16 / sizeof(S)); ++i) {
    narrow[i] = S(100 * (i + 1));
    sum += S(100 * (i + 1));
  }
  loops::Sum<S> total;
  total.add(wide);
  total.add(narrow);
  EXPECT_EQ(total.total(), sum);
  for (int i = 0; i < loops::lanes<S>; ++i) {
    loops::Wide<S> one{};
    one[i] = S(7);
    loops::Max<S> max(S(-5));
    max.add(one);
    max.add(loops::Narrow<S>{} - S(1));
    EXPECT_EQ(max.total(), S(7)) << "lane " << i;
  }
}
TEST(SoftmaxKernels, SumsAndMaximaMissNoLane) {
  folds_every_lane<float>();
  folds_every_lane<double>();
}

// ---- The tables -----------------------------------------------------------------------------------------------------

template <class S>
std::vector<const Kernels<S>*> tables(kernels::softmax::Cut cut) {
  std::vector<const Kernels<S>*> found;
  for (const Instructions set : kernels::instruction_sets()) found.push_back(&kernels::softmax::table<S>(cut, set));
  return found;
}
template <class S>
const Kernels<S>& best(int classes) {
  return kernels::softmax::table<S>(kernels::softmax::cut_of<S>(classes));
}

// Two iterates on a batch, with every buffer a kernel may ask for.
template <class S>
struct Bench {
  static constexpr int features = 30, steps = 3, inner = 4, rows = 9;
  int classes;
  kernels::softmax::Cut cut;
  Index line, rest;  // numbers of a row in lines, and in quarters
  SparseRows data;
  RoundRows now;
  std::vector<S> x;
  struct Matrix {
    AlignedNumbers<S> lines, rest;
  };
  struct Side {
    Matrix theta, compact, single, logits;
    AlignedNumbers<S> scale, norm, shrink, moment;
  } a, b;
  AlignedNumbers<S> pair{features};
  std::unique_ptr<SoftmaxBatch> batch;

  explicit Bench(int c)
      : classes(c),
        cut(kernels::softmax::cut_of<S>(c)),
        line(cut.lines * Index(64 / sizeof(S))),
        rest(cut.quarters * Index(16 / sizeof(S))) {
    Rng rng(7);
    data.columns = features;
    for (int r = 0; r < 12; ++r) {
      for (std::int32_t f = 0; f < features; ++f)
        if (rng.below(5) == 0) {
          data.column.push_back(f);
          data.value.push_back(static_cast<float>(rng.uniform(0.1, 1.0)));
        }
      data.start.push_back(static_cast<std::int64_t>(data.value.size()));
    }
    for (int r = 0; r < rows; ++r) {
      now.row.push_back(static_cast<std::int32_t>(rng.below(12)));
      now.label.push_back(static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(classes))));
    }
    now.inner = inner;
    for (int f = 0; f < features; ++f) x.push_back(S(rng.uniform(0.0, 0.5)));
    fill(a, rng);
    fill(b, rng);
    for (Index f = 0; f < features; ++f) pair[f] = S(rng.normal());
    batch = std::make_unique<SoftmaxBatch>(data, rows, common_features(data, rows));
    batch->build(now);
  }
  Matrix matrix(Index count) { return {AlignedNumbers<S>(count * line), AlignedNumbers<S>(count * rest)}; }
  void fill(Side& s, Rng& rng) {
    s.theta = matrix(features);
    s.compact = matrix(features + kernels::softmax::ahead);
    s.single = matrix(kernels::softmax::block * rows);
    s.logits = matrix(kernels::softmax::block * rows);
    s.scale = AlignedNumbers<S>(features);
    s.norm = AlignedNumbers<S>(features);
    s.shrink = AlignedNumbers<S>(features + kernels::softmax::ahead),
    s.moment = AlignedNumbers<S>(kernels::softmax::block * rows);
    for (Index f = 0; f < features; ++f) {
      s.scale[f] = S(rng.uniform(0.5, 1.5));
      s.norm[f] = S(rng.uniform());
      for (Index c = 0; c < classes; ++c)
        (c < line ? s.theta.lines[f * line + c] : s.theta.rest[f * rest + c - line]) = S(rng.normal());
    }
  }
  IterateView<S> view(Side& s, int reads, int writes) {
    const auto rows_of = [](Matrix& m) { return kernels::softmax::Rows<S>{m.lines.data(), m.rest.data()}; };
    return {rows_of(s.theta),
            s.scale.data(),
            s.norm.data(),
            cut,
            classes,
            S(0.3),
            reads,
            writes,
            rows_of(s.compact),
            s.shrink.data(),
            rows_of(s.single),
            s.moment.data(),
            rows_of(s.logits)};
  }
  // Everything a kernel may have written.
  [[nodiscard]] std::vector<double> all() const {
    std::vector<double> v;
    const auto add = [&](const AlignedNumbers<S>& n) {
      for (Index i = 0; i < n.size(); ++i) v.push_back(double(n[i]));
    };
    for (const Side* s : {&a, &b}) {
      for (const Matrix* m : {&s->theta, &s->compact, &s->single, &s->logits}) {
        add(m->lines);
        add(m->rest);
      }
      for (const AlignedNumbers<S>* n : {&s->scale, &s->norm, &s->shrink, &s->moment}) add(*n);
    }
    add(pair);
    return v;
  }
};

enum class Path { plain, dual, central, rows, system };

// Steps as the engine takes them, by one table; the numbers behind them and a fitted slope.
template <class S>
std::vector<double> run(const Kernels<S>& table, int classes, Path path) {
  Bench<S> bench(classes);
  if (path == Path::rows) bench.batch->build_once(bench.now);
  if (path == Path::system) {
    bench.batch->count(bench.now, false);
    bench.batch->sort(bench.now);
  }
  const BatchView batch = bench.batch->view();
  const int n = path == Path::rows ? 1 : Bench<S>::steps, rows = bench.rows, inner = bench.inner;
  const std::int32_t* label = bench.now.label.data();
  const S* x = bench.x.data();
  const double lambda = 50.0;
  double slope = 0.0, curvature = 0.0;
  IterateView<S> a = bench.view(bench.a, rows, path == Path::dual ? inner : rows), b = bench.view(bench.b, rows, rows);
  table.begin(batch, a, x, n);
  table.begin(batch, b, x, n);
  for (int k = 0; k < n; ++k) {
    table.forward(batch, a, k, n);
    table.forward(batch, b, k, n);
    table.scale_slope(label, inner, rows, a, &b, k, rows, 1.0 / lambda, 1.2, &slope, &curvature);
    const Weights of_g{0.1, 0.02, 1.0}, of_f{0.1 * lambda, 0.03, 1.4};
    if (path == Path::plain || path == Path::rows)
      table.residuals(label, inner, 0, rows, a, k, rows, of_f),
          table.residuals(label, inner, 0, rows, b, k, rows, of_g);
    if (path == Path::dual) table.residuals_dual(label, inner, 0, rows, a, b, k, rows, lambda, of_g, of_f);
    if (path == Path::system) {
      table.residuals_system(label, inner, 0, rows, a, b, k, rows, of_f);
      table.residuals(label, inner, 0, rows, a, k, rows, of_g);
    }
    if (path == Path::central) table.residuals_central(label, inner, 0, rows, a, b, k, rows, lambda, of_g, of_g);
    table.backward(batch, a, k);
    table.backward(batch, b, k);
  }
  const bool difference = path == Path::plain || path == Path::rows;
  table.shrink(a, &b, bench.pair.data(), x, n, 0, bench.features);
  if (path == Path::central) {
    table.finish(batch, a, x, n);
    table.finish(batch, b, x, n);
  } else {
    table.finish_singles(batch, a, b, x, n, difference, bench.pair.data(), 0, rows);
    table.finish_multi(batch, a, b, difference, bench.pair.data(), 0, batch.multi);
  }
  std::vector<double> all = bench.all();
  all.insert(all.end(), {slope, curvature});
  return all;
}

// Momenta in and out of storage, with a = y and b = v: A is theta, E a multiple of the other's theta.
template <class S>
std::vector<double> run_momentum(const Kernels<S>& table, int classes) {
  Bench<S> bench(classes);
  bench.batch->build_once(bench.now);
  struct Numbers {
    AlignedNumbers<S> along{Bench<S>::features}, past{Bench<S>::features}, past_along{Bench<S>::features},
        fade{Bench<S>::features}, drift_norm{Bench<S>::features}, base_pair{Bench<S>::features},
        drift_pair{Bench<S>::features};
    typename Bench<S>::Matrix drift, was, rest;
  } of_a, of_b;
  AlignedNumbers<S> own(Bench<S>::features);
  const auto rows_of = [](typename Bench<S>::Matrix& m) {
    return kernels::softmax::Rows<S>{m.lines.data(), m.rest.data()};
  };
  const auto view = [&](typename Bench<S>::Side& side, typename Bench<S>::Side& other, Numbers& n) {
    n.drift = other.theta;
    n.was = n.rest = bench.matrix(Bench<S>::features + kernels::softmax::ahead);
    for (Index f = 0; f < Bench<S>::features; ++f) {
      n.along[f] = S(0.3) * other.scale[f];
      n.past[f] = S(1.1) * side.scale[f];
      n.past_along[f] = S(-0.2);
      n.fade[f] = S(0.1) + other.norm[f];
    }
    return kernels::softmax::MomentumView<S>{rows_of(side.theta),
                                             rows_of(n.drift),
                                             side.scale.data(),
                                             n.along.data(),
                                             n.past.data(),
                                             n.past_along.data(),
                                             n.fade.data(),
                                             side.norm.data(),
                                             n.drift_norm.data(),
                                             n.base_pair.data(),
                                             n.drift_pair.data(),
                                             bench.cut,
                                             S(0.2),
                                             rows_of(side.compact),
                                             rows_of(n.was),
                                             rows_of(n.rest)};
  };
  const auto y = view(bench.a, bench.b, of_a), v = view(bench.b, bench.a, of_b);
  const BatchView batch = bench.batch->view();
  table.momentum_begin(batch, y);
  table.momentum_begin(batch, v);
  table.momentum_finish(batch, y, v, own.data(), bench.x.data());
  std::vector<double> all = bench.all();
  const auto add = [&](const AlignedNumbers<S>& n) {
    for (Index i = 0; i < n.size(); ++i) all.push_back(double(n[i]));
  };
  for (const Numbers* n : {&of_a, &of_b}) {
    for (const auto* numbers : {&n->along, &n->past, &n->past_along, &n->fade, &n->drift_norm, &n->base_pair,
                                &n->drift_pair, &n->drift.lines, &n->drift.rest, &n->was.lines, &n->was.rest})
      add(*numbers);
  }
  add(own);
  return all;
}

template <class S>
void momenta_agree() {
  for (const int classes : {2, 5, 9, 20, 33, 70}) {
    const auto here = tables<S>(kernels::softmax::cut_of<S>(classes));
    const std::vector<double> one = run_momentum<S>(*here.front(), classes);
    for (const Kernels<S>* table : here) {
      const std::vector<double> two = run_momentum<S>(*table, classes);
      ASSERT_EQ(one.size(), two.size());
      // sums of at most 70 products of numbers below 10
      for (std::size_t i = 0; i < one.size(); ++i)
        ASSERT_NEAR(one[i], two[i], 70 * unit<S> * (10.0 + std::abs(one[i])))
            << table->name << ", " << classes << " classes, number " << i;
    }
  }
}
TEST(SoftmaxKernels, TheInstructionSetsAgreeToRoundingOnMomenta) {
  if (tables<double>({1, 0}).size() == 1) GTEST_SKIP() << "one set only";
  momenta_agree<double>();
  momenta_agree<float>();
}

// Fused products round once where others round twice: of some 40 terms a number, three steps, and λ = 50 between dual
// steps.
template <class S>
void tables_agree() {
  for (const int classes : {2, 3, 5, 8, 9, 14, 20, 23, 33, 48, 70})
    for (const Path path : {Path::plain, Path::dual, Path::central, Path::rows, Path::system}) {
      const auto here = tables<S>(kernels::softmax::cut_of<S>(classes));
      const std::vector<double> one = run<S>(*here.front(), classes, path);
      for (const Kernels<S>* table : here) {
        const std::vector<double> two = run<S>(*table, classes, path);
        ASSERT_EQ(one.size(), two.size());
        for (std::size_t i = 0; i < one.size(); ++i)
          ASSERT_NEAR(one[i], two[i], 40 * 3 * 50 * unit<S> * (0.1 + std::abs(one[i])))
              << table->name << ", " << classes << " classes, path " << static_cast<int>(path) << ", number " << i;
      }
    }
}
TEST(SoftmaxKernels, TheInstructionSetsAgreeToRoundingOnEveryKernel) {
  if (tables<double>({1, 0}).size() == 1) GTEST_SKIP() << "one set only";
  tables_agree<double>();
  tables_agree<float>();
}

// With the size of a row known when compiled, or not: the same sums, in as many parts.
TEST(SoftmaxKernels, TheGeneralKernelIsTheOneOfAnySize) {
  for (const int classes : {3, 9, 20})
    for (const Path path : {Path::plain, Path::dual, Path::central, Path::rows, Path::system}) {
      const std::vector<double> own = run<double>(
          kernels::softmax::table<double>(kernels::softmax::cut_of<double>(classes), Instructions::portable), classes,
          path);
      const std::vector<double> general =
          run<double>(kernels::softmax::table<double>({0, 0}, Instructions::portable), classes, path);
      for (std::size_t i = 0; i < own.size(); ++i)
        ASSERT_NEAR(own[i], general[i], 40 * 3 * 50 * unit<double> * (0.1 + std::abs(own[i]))) << classes;
    }
}

// Of 5 classes in double three quarters of a line are kept, and the sixth number of each row is nobody's.
TEST(SoftmaxKernels, WhatIsBeyondTheClassesStaysZero) {
  for (const Path path : {Path::plain, Path::dual, Path::central, Path::rows, Path::system}) {
    const std::vector<double> all = run<double>(best<double>(5), 5, path);
    for (Index f = 0; f < Bench<double>::features; ++f) ASSERT_EQ(all[static_cast<std::size_t>(6 * f + 5)], 0.0);
  }
}

TEST(SoftmaxKernels, TheEnvironmentMayAskForOthers) {
  const char* before = std::getenv("OBOLUS_KERNELS");
  const std::string kept = before ? before : "";
  ASSERT_EQ(unsetenv("OBOLUS_KERNELS"), 0);
  const auto here = tables<float>({1, 1});
  for (const Kernels<float>* table : here) {
    ASSERT_EQ(setenv("OBOLUS_KERNELS", table->name, 1), 0);
    EXPECT_STREQ(best<double>(20).name, table->name);
    EXPECT_STREQ(best<float>(20).name, table->name);
    EXPECT_STREQ(SoftmaxL2<float>(SoftmaxOptions{}, 1).kernels(), table->name);
  }
  for (const char* unknown : {"", "abacus"}) {
    ASSERT_EQ(setenv("OBOLUS_KERNELS", unknown, 1), 0);
    EXPECT_STREQ(best<float>(20).name, here.back()->name);
  }
  ASSERT_EQ(unsetenv("OBOLUS_KERNELS"), 0);
  EXPECT_STREQ(best<float>(20).name, here.back()->name);
  if (before) setenv("OBOLUS_KERNELS", kept.c_str(), 1);
}

TEST(SoftmaxKernels, ARowIsLinesAndQuarters) {
  const auto cut = [](kernels::softmax::Cut c) { return std::pair(c.lines, c.quarters); };
  EXPECT_EQ(cut(kernels::softmax::cut_of<float>(20)), std::pair(1, 1));
  EXPECT_EQ(cut(kernels::softmax::cut_of<float>(2)), std::pair(0, 1));
  EXPECT_EQ(cut(kernels::softmax::cut_of<float>(12)), std::pair(0, 3));
  EXPECT_EQ(cut(kernels::softmax::cut_of<float>(13)), std::pair(1, 0));
  EXPECT_EQ(cut(kernels::softmax::cut_of<float>(16)), std::pair(1, 0));
  EXPECT_EQ(cut(kernels::softmax::cut_of<double>(5)), std::pair(0, 3));
  EXPECT_EQ(cut(kernels::softmax::cut_of<double>(20)), std::pair(2, 2));
}

// ---- Batches --------------------------------------------------------------------------------------------------------

// The entries of the batch, row by row, with features by their own numbers.
using Entries = std::vector<std::vector<std::pair<std::int32_t, float>>>;

Entries entries_of(const SparseRows& data, const RoundRows& now) {
  Entries rows;
  for (const std::int32_t row : now.row) {
    rows.emplace_back();
    for (auto k = static_cast<std::size_t>(data.start[static_cast<std::size_t>(row)]);
         k < static_cast<std::size_t>(data.start[static_cast<std::size_t>(row) + 1]); ++k)
      rows.back().emplace_back(data.column[k], data.value[k]);
  }
  return rows;
}

Entries by_rows(const BatchView& b) {
  Entries rows(static_cast<std::size_t>(b.rows));
  for (int r = 0; r < b.rows; ++r) {
    auto& row = rows[static_cast<std::size_t>(r)];
    if (b.by_columns) {
      EXPECT_EQ((b.common_end[r] - b.common_start[r]) % kernels::softmax::side_by_side, 0);
    }
    for (std::int64_t q = b.common_start[r]; q < b.common_end[r]; ++q)
      if (b.common_value[q] != 0) row.emplace_back(b.multi_feature[b.common_index[q]], b.common_value[q]);
    for (int q = b.row_start[r]; q < b.row_start[r + 1]; ++q)
      row.emplace_back(b.multi_feature[b.row[q].index], b.row[q].value);
    for (int q = b.single_start[r]; q < b.single_start[r + 1]; ++q)
      row.emplace_back(b.single[q].index, b.single[q].value);
    std::sort(row.begin(), row.end());
  }
  return rows;
}

// g's part of every column is there once, and they come by length.
void check_inner_columns(const BatchView& b) {
  std::vector<std::int32_t> start(static_cast<std::size_t>(b.multi)), end(start);
  for (int i = 0; i < b.multi; ++i) {
    const auto owner = static_cast<std::size_t>(b.column_owner[i]);
    start[owner] = end[owner] = b.column_start[i];
    while (end[owner] < b.column_start[i + 1] && b.column[end[owner]].index < b.inner) ++end[owner];
  }
  std::set<std::int32_t> owners;
  for (int i = 0; i < b.multi; ++i) {
    const auto [owner, first, last] = b.inner_column[i];
    EXPECT_TRUE(owners.insert(owner).second);
    EXPECT_EQ(first, start[static_cast<std::size_t>(owner)]);
    EXPECT_EQ(last, end[static_cast<std::size_t>(owner)]);
    if (i > 0) {
      EXPECT_LE(b.inner_column[i - 1].last - b.inner_column[i - 1].first, last - first) << "by length";
    }
  }
}

Entries by_columns(const BatchView& b) {
  check_inner_columns(b);
  Entries rows(static_cast<std::size_t>(b.rows));
  for (int i = 0; i < b.multi; ++i) {
    if (i > 0) {
      EXPECT_LE(b.column_start[i] - b.column_start[i - 1], b.column_start[i + 1] - b.column_start[i]) << "by length";
    }
    for (int q = b.column_start[i]; q < b.column_start[i + 1]; ++q) {
      rows[static_cast<std::size_t>(b.column[q].index)].emplace_back(b.multi_feature[b.column_owner[i]],
                                                                     b.column[q].value);
    }
  }
  for (int r = 0; r < b.rows; ++r) {
    auto& row = rows[static_cast<std::size_t>(r)];
    for (int q = b.single_start[r]; q < b.single_start[r + 1]; ++q)
      row.emplace_back(b.single[q].index, b.single[q].value);
    std::sort(row.begin(), row.end());
  }
  return rows;
}

// Features in falling frequency, so that some are common, or in rising, so that none is.
TEST(SoftmaxBatch, RowsAndColumnsHaveTheEntriesOfTheDataAndNoneTwice) {
  for (const bool falling : {true, false}) {
    Rng rng(falling ? 3 : 4);
    SparseRows data;
    data.columns = 200;
    for (int r = 0; r < 60; ++r) {
      for (std::int32_t f = 0; f < 200; ++f)
        if (rng.uniform() < 1.0 / (1.0 + 0.3 * double(falling ? f : 199 - f))) {
          data.column.push_back(f);
          data.value.push_back(static_cast<float>(rng.uniform(0.1, 1.0)));
        }
      data.start.push_back(static_cast<std::int64_t>(data.value.size()));
    }
    SoftmaxBatch batch(data, 16, common_features(data, 16));
    EXPECT_EQ(common_features(data, 16) > 0, falling);
    for (int round = 0; round < 40; ++round) {
      RoundRows now;
      const std::uint64_t rows = round == 20 ? 90 : 1 + rng.below(16);  // once more rows than there was room for
      for (std::uint64_t r = 0; r < rows; ++r) {
        now.row.push_back(static_cast<std::int32_t>(rng.below(60)));
        now.label.push_back(0);
      }
      now.inner = static_cast<Index>(rng.below(rows + 1));
      const Entries expected = entries_of(data, now);
      if (round % 3 == 2) {
        batch.build_once(now);
        ASSERT_EQ(by_rows(batch.view()), expected);
        continue;
      }
      batch.build(now);
      ASSERT_EQ(by_rows(batch.view()), expected);
      ASSERT_EQ(by_columns(batch.view()), expected);
    }
  }
}

}  // namespace
