#include "problems/spectrum.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/QR>

namespace obolus {

Vector<double> eigenvalues(const Matrix<double>& symmetric) {
  return Eigen::SelfAdjointEigenSolver<Matrix<double>>(symmetric, Eigen::EigenvaluesOnly).eigenvalues();
}

Matrix<double> orthogonal_factor(const Matrix<double>& square) {
  return Eigen::HouseholderQR<Matrix<double>>(square).householderQ();
}

}  // namespace obolus
