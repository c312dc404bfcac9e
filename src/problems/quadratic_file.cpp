#include "obolus/problems/quadratic_file.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "obolus/core/error.hpp"
#include "obolus/core/to_size.hpp"
#include "problems/quadratic_json.hpp"
#include "problems/spectrum.hpp"

namespace obolus {
namespace {

using namespace quadratic_json;

constexpr std::uintmax_t max_file = std::uintmax_t{1} << 30;

Index dimension(const Place& file, std::string_view key, const std::optional<double>& value) {
  Place place = file;
  place.in_dims = true;
  place.key = key;
  if (!value) place.refuse("missing");
  if (*value >= 1 && *value <= max_dimension && *value == std::floor(*value)) return static_cast<Index>(*value);
  place.refuse(fmt::format("{}", *value), fmt::format("a whole number from 1 to {}", max_dimension));
}

std::string form_text(const Entry& entry) {
  switch (entry.form) {
    case Entry::Form::number: return "a single number";
    case Entry::Form::list: return fmt::format("a list of {} numbers", entry.numbers.size());
    default: return fmt::format("{} rows", entry.row_ends.size());
  }
}

std::string rows_text(Index rows, Index cols) {
  return fmt::format("{} row{} of {} number{}", rows, rows == 1 ? "" : "s", cols, cols == 1 ? "" : "s");
}

Matrix<double> to_matrix(const Entry& entry, Place place, Index rows, Index cols) {
  if (entry.form == Entry::Form::number && rows == 1 && cols == 1)
    return Matrix<double>::Constant(1, 1, entry.numbers[0]);
  if (entry.form != Entry::Form::rows || entry.row_ends.size() != to_size(rows))
    place.refuse(form_text(entry), rows_text(rows, cols));
  std::size_t begin = 0;
  for (const std::size_t end : entry.row_ends) {
    ++place.row;
    if (end - begin != to_size(cols)) place.refuse(fmt::format("{} numbers", end - begin), fmt::format("{}", cols));
    begin = end;
  }
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  return Eigen::Map<const RowMajor>(entry.numbers.data(), rows, cols);
}

Vector<double> to_vector(const Entry& entry, const Place& place, Index size) {
  if (entry.form == Entry::Form::number && size == 1) return Vector<double>::Constant(1, entry.numbers[0]);
  if (entry.form != Entry::Form::list || entry.numbers.size() != to_size(size))
    place.refuse(form_text(entry), fmt::format("a list of {} number{}", size, size == 1 ? "" : "s"));
  return Eigen::Map<const Vector<double>>(entry.numbers.data(), size);
}

double to_number(const Entry& entry, const Place& place) {
  if (entry.form == Entry::Form::number) return entry.numbers[0];
  place.refuse(form_text(entry), "a single number");
}

// Symmetric up to the rounding of the program that wrote the file; then exactly.
void symmetrise(Matrix<double>& A, Place place) {
  const double allowed = 1e-12 * A.cwiseAbs().maxCoeff();
  for (Index i = 0; i < A.rows(); ++i) {
    for (Index j = 0; j < i; ++j) {
      if (!(std::abs(A(i, j) - A(j, i)) <= allowed)) {
        place.row = to_size(i + 1);
        place.refuse(fmt::format("{} in column {} but {} in row {}, column {}", A(i, j), j + 1, A(j, i), j + 1, i + 1),
                     "a symmetric matrix");
      }
      A(i, j) = A(j, i) = 0.5 * A(i, j) + 0.5 * A(j, i);
    }
  }
}

// A pivot within rounding of 0 is a singular matrix's: L_ii² carries an error of about d ε |A|.
void require_positive_definite(const Matrix<double>& A, const Place& place) {
  const Eigen::LLT<Matrix<double>> factor(A);
  const double rounding = static_cast<double>(A.rows()) * std::numeric_limits<double>::epsilon();
  const bool positive = factor.info() == Eigen::Success &&
                        factor.matrixLLT().diagonal().array().square().minCoeff() > rounding * A.diagonal().maxCoeff();
  if (positive) return;
  constexpr Index still_quick = 1000;
  if (A.rows() > still_quick) place.refuse("a matrix whose Cholesky factorisation fails", "a positive definite matrix");
  place.refuse(fmt::format("a matrix with smallest eigenvalue {:.6g}", eigenvalues(A).minCoeff()),
               "a positive definite matrix");
}

QuadraticRound<double> to_round(const RawRound& raw, Place place, Dims dims, const QuadraticRound<double>* before) {
  const auto at = [&](RoundKey key) -> const Place& {
    place.key = round_keys[key];
    return place;
  };
  QuadraticRound<double> round;
  round.A = to_matrix(raw[key_A], at(key_A), dims.y, dims.y);
  round.B = to_matrix(raw[key_B], at(key_B), dims.y, dims.x);
  round.b = to_vector(raw[key_b], at(key_b), dims.y);
  round.c = to_vector(raw[key_c], at(key_c), dims.y);
  round.e = to_vector(raw[key_e], at(key_e), dims.x);
  round.w = to_number(raw[key_w], at(key_w));
  round.s = to_number(raw[key_s], at(key_s));
  round.r = to_number(raw[key_r], at(key_r));
  symmetrise(round.A, at(key_A));
  if (!before || round.A != before->A) require_positive_definite(round.A, at(key_A));
  return round;
}

std::ifstream open(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) throw DataError(fmt::format("{}: no such file, expected a JSON file", path));
  if (!std::filesystem::is_regular_file(status))
    throw DataError(fmt::format("{}: got {}, expected a JSON file", path,
                                std::filesystem::is_directory(status) ? "a folder" : "a special file"));
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (!error && size > max_file)
    throw DataError(fmt::format("{}: got {} bytes, expected at most {}", path, size, max_file));
  std::ifstream file(path, std::ios::binary);
  if (error || !file) throw DataError(fmt::format("{}: cannot be read", path));
  return file;
}

}  // namespace

std::vector<QuadraticRound<double>> read_quadratic_stream(const std::string& path) {
  std::ifstream file = open(path);
  RawStream raw = read_raw(file, path);
  Place place{.file = path};
  if (file.bad()) place.refuse("reading stopped half-way");
  if (!raw.has_dims) {
    place.key = "dims";
    place.refuse("missing");
  }
  const Dims dims{dimension(place, "x", raw.dim_x), dimension(place, "y", raw.dim_y)};
  place.key = "rounds";
  if (!raw.has_rounds) place.refuse("missing");
  if (raw.rounds.empty()) place.refuse("an empty list", "at least one round");
  const auto numbers = to_size(dims.y * (dims.y + dims.x + 2) + dims.x);
  if (raw.rounds.size() > max_numbers / numbers)
    place.refuse(fmt::format("{} rounds of {} numbers each", raw.rounds.size(), numbers),
                 fmt::format("at most {} numbers in all", max_numbers));
  std::vector<QuadraticRound<double>> rounds;
  rounds.reserve(raw.rounds.size());
  for (RawRound& written : raw.rounds) {
    place.round = rounds.size() + 1;
    rounds.push_back(to_round(written, place, dims, rounds.empty() ? nullptr : &rounds.back()));
    written = {};  // a large file is not kept twice
  }
  return rounds;
}

template <class S>
QuadraticFile<S>::QuadraticFile(std::vector<QuadraticRound<double>> rounds, const Options& options)
    : exact_(std::move(rounds)), noise_(options.noise), noise_cross_(options.noise_cross) {
  for (const auto& round : exact_) rounds_.push_back(round.template cast<S>());
  for (std::size_t i = 0; i < exact_.size(); ++i)
    same_matrix_.push_back(exact_[i].A == exact_[(i + exact_.size() - 1) % exact_.size()].A);
  this->prepare({exact_[0].B.cols(), exact_[0].A.rows()}, options.noise, options.noise_cross);
  reveal(1);
}

template <class S>
void QuadraticFile<S>::reveal(Round t) {
  const std::size_t i = slot(t);
  this->use(rounds_[i], i == current_ || (i == (current_ + 1) % rounds_.size() && same_matrix_[i]));
  current_ = i;
}

// Eigenvalues of every round would take minutes on long streams of large rounds: such a stream knows no constants.
template <class S>
Constants QuadraticFile<S>::constants(const ConvexSet& set) const {
  const double n = static_cast<double>(this->dims().x + this->dims().y);
  if (n * n * n * static_cast<double>(exact_.size()) > 2e9) {
    Constants unknown;
    unknown.region = "not computed: the stream is too large";
    return unknown;
  }
  QuadraticBounds bounds;
  for (const auto& round : exact_) bounds.include(round);
  return bounds.constants(set, this->dims().x, noise_, noise_cross_);
}

template class QuadraticFile<double>;
template class QuadraticFile<float>;

}  // namespace obolus
