// The kernels of the two instruction sets against each other, and the pieces of both against the standard library.
#include "kernels/softmax_kernels.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "kernels/softmax_batch.hpp"
#include "obolus/core/rng.hpp"
#include "obolus/problems/lazy_rows.hpp"
#include "obolus/problems/softmax_l2.hpp"

#define OBOLUS_INSTRUCTIONS test_loops
#include "kernels/softmax_instructions.hpp"

namespace {

using namespace obolus;
using kernels::BatchView;
using kernels::IterateView;
using kernels::Kernels;
using kernels::Weights;

template <class S>
constexpr double unit = double(std::numeric_limits<S>::epsilon());

// ---- exp and expm1 --------------------------------------------------------------------------------------------------

// Of x = k ln 2 + r the remainder is rounded to ε r, the polynomial to some 2ε of e^r, the product and the sum to ε:
// 4ε, and the last term left out is below half of one. e^x − 1 = 2^k E + (2^k − 1) cancels for k = −1 by 3 at the most,
// e.g. at −½.
template <class S>
void agrees_with_the_standard_library(S from, S to) {
  namespace loops = kernels::test_loops;
  constexpr int lanes = loops::lanes<S>;
  double worst_exp = 0.0, worst_minus_one = 0.0;
  Rng rng(1);
  for (int i = 0; i < 40'000; ++i) {
    loops::Pack<S> x{};
    for (int k = 0; k < lanes; ++k) {
      S value = S(rng.uniform(double(from), double(to)));
      if (i % 2 == 0) value *= S(std::pow(10.0, rng.uniform(-12.0, 0.0)));  // also near 0
      x[k] = value;
    }
    const loops::Pack<S> e = loops::exponential<S>(x), m = loops::exponential_minus_one<S>(x);
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
  return kernels::test_loops::exponential<S>(kernels::test_loops::Pack<S>{} + x)[0];
}
TEST(SoftmaxKernels, ExpIsExactAtZeroClampedFarOutAndKeepsNaN) {
  EXPECT_EQ(exp_of(0.0), 1.0);
  EXPECT_EQ(exp_of(0.0f), 1.0f);
  EXPECT_LE(exp_of(-1e6), 1e-300);
  EXPECT_GE(exp_of(-1e6), 0.0);
  EXPECT_LE(exp_of(-1e30f), 1e-37f);
  EXPECT_TRUE(std::isfinite(exp_of(1e6)) && std::isfinite(exp_of(1e30f)));
  EXPECT_TRUE(std::isnan(exp_of(std::nan(""))) && std::isnan(exp_of(std::nanf(""))));
  const auto minus_one = kernels::test_loops::exponential_minus_one<double>(kernels::test_loops::Pack<double>{} + 0.0);
  EXPECT_EQ(minus_one[0], 0.0);
}

// ---- The two tables -------------------------------------------------------------------------------------------------

// Null where there is none, or the processor could not run it.
template <class S>
const Kernels<S>* avx2_table([[maybe_unused]] int packs) {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return &kernels::avx2<S>(packs);
#endif
  return nullptr;
}

// Two iterates on a batch, with every buffer a kernel may ask for.
template <class S>
struct Bench {
  static constexpr int features = 30, steps = 3, inner = 4, rows = 9;
  int classes, stride;
  SparseRows data;
  RoundRows now;
  std::vector<S> x;
  struct Side {
    AlignedNumbers<S> theta, scale, norm, compact, shrink, single, moment, logits;
  } a, b;
  AlignedNumbers<S> pair{features};
  std::unique_ptr<kernels::Batch> batch;

  explicit Bench(int c) : classes(c), stride(kernels::stride_of<S>(c)) {
    Rng rng(7);
    data.columns = features;
    for (int r = 0; r < 12; ++r) {
      for (std::int32_t f = 0; f < features; ++f)
        if (rng.below(5) == 0)
          data.column.push_back(f), data.value.push_back(static_cast<float>(rng.uniform(0.1, 1.0)));
      data.start.push_back(static_cast<std::int64_t>(data.value.size()));
    }
    for (int r = 0; r < rows; ++r) {
      now.row.push_back(static_cast<std::int32_t>(rng.below(12)));
      now.label.push_back(static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(classes))));
    }
    now.inner = inner;
    for (int f = 0; f < features; ++f) x.push_back(S(rng.uniform(0.0, 0.5)));
    fill(a, rng), fill(b, rng);
    for (Index f = 0; f < features; ++f) pair[f] = S(rng.normal());
    batch = std::make_unique<kernels::Batch>(data, rows);
    batch->build(data, now);
  }
  void fill(Side& s, Rng& rng) {
    s.theta = AlignedNumbers<S>(features * stride), s.scale = AlignedNumbers<S>(features);
    s.norm = AlignedNumbers<S>(features);
    s.compact = AlignedNumbers<S>(features * stride), s.shrink = AlignedNumbers<S>(features);
    s.single = AlignedNumbers<S>(kernels::block * rows * stride), s.moment = AlignedNumbers<S>(kernels::block * rows);
    s.logits = AlignedNumbers<S>(kernels::block * rows * stride);
    for (Index f = 0; f < features; ++f) {
      s.scale[f] = S(rng.uniform(0.5, 1.5)), s.norm[f] = S(rng.uniform());
      for (Index c = 0; c < classes; ++c) s.theta[f * stride + c] = S(rng.normal());
    }
  }
  IterateView<S> view(Side& s, int reads, int writes) {
    return {s.theta.data(), s.scale.data(),   s.norm.data(),   stride,          classes,         S(0.3),         reads,
            writes,         s.compact.data(), s.shrink.data(), s.single.data(), s.moment.data(), s.logits.data()};
  }
  // Everything a kernel may have written.
  [[nodiscard]] std::vector<double> all() const {
    std::vector<double> v;
    for (const Side* s : {&a, &b})
      for (const AlignedNumbers<S>* n :
           {&s->theta, &s->scale, &s->norm, &s->compact, &s->shrink, &s->single, &s->moment, &s->logits})
        for (Index i = 0; i < n->size(); ++i) v.push_back(double((*n)[i]));
    for (Index i = 0; i < pair.size(); ++i) v.push_back(double(pair[i]));
    return v;
  }
};

enum class Path { plain, dual, central, rows };

// Steps as the engine takes them, by one table; the numbers behind them and a fitted slope.
template <class S>
std::vector<double> run(const Kernels<S>& table, int classes, Path path) {
  Bench<S> bench(classes);
  if (path == Path::rows) bench.batch->build_once(bench.data, bench.now);
  const BatchView batch = bench.batch->view();
  const int n = path == Path::rows ? 1 : Bench<S>::steps, rows = bench.rows, inner = bench.inner;
  const std::int32_t* label = bench.now.label.data();
  const S* x = bench.x.data();
  const double lambda = 50.0;
  double slope = 0.0, curvature = 0.0;
  IterateView<S> a = bench.view(bench.a, rows, path == Path::dual ? inner : rows), b = bench.view(bench.b, rows, rows);
  table.begin(batch, a, x, n), table.begin(batch, b, x, n);
  for (int k = 0; k < n; ++k) {
    table.forward(batch, a, k, n), table.forward(batch, b, k, n);
    const std::size_t at = static_cast<std::size_t>(k) * static_cast<std::size_t>(rows * a.stride);
    table.scale_slope(label, inner, rows, a, a.logits + at, b.logits + at, 1.0 / lambda, 1.2, &slope, &curvature);
    const Weights of_g{0.1, 0.02, 1.0}, of_f{0.1 * lambda, 0.03, 1.4};
    if (path == Path::plain || path == Path::rows)
      table.residuals(label, inner, 0, rows, a, k, rows, of_f),
          table.residuals(label, inner, 0, rows, b, k, rows, of_g);
    if (path == Path::dual) table.residuals_dual(label, inner, 0, rows, a, b, k, rows, lambda, of_g, of_f);
    if (path == Path::central) table.residuals_central(label, inner, 0, rows, a, b, k, rows, lambda, of_g, of_g);
    table.backward(batch, a, k), table.backward(batch, b, k);
  }
  const bool difference = path == Path::plain || path == Path::rows;
  table.shrink(a, &b, bench.pair.data(), x, n, 0, bench.features);
  if (path == Path::central) {
    table.finish(batch, a, x, n), table.finish(batch, b, x, n);
  } else {
    table.finish_singles(batch, a, b, x, n, difference, bench.pair.data(), 0, rows);
    table.finish_multi(batch, a, b, difference, bench.pair.data(), 0, batch.multi);
  }
  std::vector<double> all = bench.all();
  all.insert(all.end(), {slope, curvature});
  return all;
}

// Fused products round once where others round twice: of some 40 terms a number, three steps, and λ = 50 between dual
// steps.
template <class S>
void tables_agree() {
  for (const int classes : {2, 3, 5, 8, 9, 14, 20, 23, 33, 70})
    for (const Path path : {Path::plain, Path::dual, Path::central, Path::rows}) {
      const int packs = kernels::stride_of<S>(classes) * static_cast<int>(sizeof(S)) / 32;
      const std::vector<double> one = run<S>(kernels::portable<S>(packs), classes, path);
      const std::vector<double> two = run<S>(*avx2_table<S>(packs), classes, path);
      ASSERT_EQ(one.size(), two.size());
      for (std::size_t i = 0; i < one.size(); ++i)
        ASSERT_NEAR(one[i], two[i], 40 * 3 * 50 * unit<S> * (0.1 + std::abs(one[i])))
            << classes << " classes, path " << static_cast<int>(path) << ", number " << i;
    }
}
TEST(SoftmaxKernels, TheTwoInstructionSetsAgreeToRoundingOnEveryKernel) {
  if (!avx2_table<double>(1)) GTEST_SKIP() << "one set only";
  tables_agree<double>();
  tables_agree<float>();
}

// With N packs known when compiled, or not: the same sums in the same order.
TEST(SoftmaxKernels, TheGeneralKernelIsTheOneOfAnyNumberOfPacks) {
  for (const int classes : {3, 9, 20})
    for (const Path path : {Path::plain, Path::dual, Path::central, Path::rows}) {
      const int packs = kernels::stride_of<double>(classes) / 4;
      const std::vector<double> own = run<double>(kernels::portable<double>(packs), classes, path);
      const std::vector<double> general = run<double>(kernels::portable<double>(0), classes, path);
      for (std::size_t i = 0; i < own.size(); ++i)
        ASSERT_NEAR(own[i], general[i], 40 * 3 * 50 * unit<double> * (0.1 + std::abs(own[i]))) << classes;
    }
}

TEST(SoftmaxKernels, PaddingStaysZero) {
  for (const Path path : {Path::plain, Path::dual, Path::central, Path::rows}) {
    const std::vector<double> all = run<double>(kernels::best<double>(5), 5, path);
    for (Index f = 0; f < Bench<double>::features; ++f)
      for (Index c = 5; c < 8; ++c) ASSERT_EQ(all[static_cast<std::size_t>(8 * f + c)], 0.0);
  }
}

TEST(SoftmaxKernels, TheEnvironmentMayAskForThePortableOnes) {
  const char* before = std::getenv("OBOLUS_KERNELS");
  const std::string kept = before ? before : "";
  ASSERT_EQ(setenv("OBOLUS_KERNELS", "portable", 1), 0);
  EXPECT_STREQ(kernels::best<double>(20).name, "portable");
  EXPECT_STREQ(kernels::best<float>(20).name, "portable");
  EXPECT_STREQ(SoftmaxL2<float>(SoftmaxOptions{}, 1).kernels(), "portable");
  ASSERT_EQ(unsetenv("OBOLUS_KERNELS"), 0);
  EXPECT_STREQ(kernels::best<float>(20).name, avx2_table<float>(3) ? "avx2" : "portable");
  if (before) setenv("OBOLUS_KERNELS", kept.c_str(), 1);
}

TEST(SoftmaxKernels, ARowIsWholePacks) {
  EXPECT_EQ(kernels::stride_of<float>(20), 24);
  EXPECT_EQ(kernels::stride_of<float>(8), 8);
  EXPECT_EQ(kernels::stride_of<double>(1), 4);
  EXPECT_EQ(kernels::stride_of<double>(5), 8);
}

}  // namespace
