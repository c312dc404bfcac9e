// Decompositions of dense matrices, in a file of their own: Eigen's are slow to compile.
#pragma once

#include "obolus/core/types.hpp"

namespace obolus {

// Of a symmetric matrix, ascending.
[[nodiscard]] Vector<double> eigenvalues(const Matrix<double>& symmetric);

// The orthogonal factor of QR.
[[nodiscard]] Matrix<double> orthogonal_factor(const Matrix<double>& square);

}  // namespace obolus
