#include "obolus/metrics/certified_distances.hpp"

#include <gtest/gtest.h>

#include "obolus/metrics/bound_inputs.hpp"

namespace obolus::test {
namespace {

Row row_with(double lambda, double residual_y, double residual_z) {
  Row row;
  row.has_residuals = true;
  row.lambda = lambda;
  row.residual_y = residual_y;
  row.residual_z = residual_z;
  return row;
}

Constants constants(double mu_g, double L_f1) {
  Constants k;
  k.mu_g = mu_g;
  k.L_f1 = L_f1;
  return k;
}

// 2·3/(8·0.5) = 1.5 and 2/0.5 = 4, exactly.
TEST(CertifiedDistances, follow_from_the_residuals_by_strong_convexity) {
  const CertifiedDistances distances = certified_distances(row_with(8, 3, 2), constants(0.5, 2));
  EXPECT_EQ(distances.y, 1.5);
  EXPECT_EQ(distances.z, 4.0);
}

TEST(CertifiedDistances, need_residuals_and_strong_convexity_and_for_y_a_large_enough_lambda) {
  EXPECT_FALSE(certified_distances(Row{}, constants(0.5, 2)).z);
  EXPECT_FALSE(certified_distances(row_with(8, 3, 2), Constants{}).z);
  const CertifiedDistances below = certified_distances(row_with(7.9, 3, 2), constants(0.5, 2));
  EXPECT_FALSE(below.y);
  EXPECT_EQ(below.z, 4.0);
}

// (1 + λ²)(6 L² 1.5² + 3 L² 4²) = 65 (6·2.25 + 3·16) for L_g1 = 1.
TEST(BoundInputs, the_first_error_is_bounded_by_the_certified_distances) {
  Constants k = constants(0.5, 2);
  k.L_g1 = 1;
  EXPECT_EQ(initial_error(row_with(8, 3, 2), k), 65 * (6 * 2.25 + 3 * 16));
  EXPECT_FALSE(initial_error(row_with(1, 3, 2), k));
  EXPECT_FALSE(bound_inputs(k, {}, row_with(8, 3, 2), 10, 0.1)) << "M is not known";
  k.L_f0 = k.L_g2 = k.M = 1;
  EXPECT_TRUE(bound_inputs(k, {}, row_with(8, 3, 2), 10, 0.1));
}

}  // namespace
}  // namespace obolus::test
