#include "obolus/problems/quadratic_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "obolus/check/oracle.hpp"
#include "obolus/check/primitives.hpp"
#include "obolus/core/error.hpp"
#include "tests/check/findings.hpp"
#include "tests/problems/brute_force.hpp"

namespace {

using namespace obolus;
using nlohmann::json;
using test::at;
using test::passes;
using test::solution_at;
using test::value_of_F;

constexpr double epsilon = std::numeric_limits<double>::epsilon();

// A folder of its own for every test: ctest runs them side by side.
class QuadraticFileTest : public testing::Test {
 protected:
  QuadraticFileTest()
      : folder_(std::filesystem::path(testing::TempDir()) /
                (std::string("obolus-") + std::to_string(getpid()) + "-" +
                 testing::UnitTest::GetInstance()->current_test_info()->name())) {
    std::filesystem::create_directories(folder_);
  }
  ~QuadraticFileTest() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string path(const std::string& name = "stream.json") const { return (folder_ / name).string(); }
  void write(const std::string& text) const { std::ofstream(path(), std::ios::binary) << text; }

  std::vector<QuadraticRound<double>> read(const json& stream) const { return read_text(stream.dump()); }
  std::vector<QuadraticRound<double>> read_text(const std::string& text) const {
    write(text);
    return read_quadratic_stream(path());
  }

  // The message without the path it begins with.
  [[nodiscard]] std::string refusal(const json& stream) const { return text_refusal(stream.dump()); }
  [[nodiscard]] std::string text_refusal(const std::string& text) const {
    write(text);
    return path_refusal(path());
  }
  static std::string path_refusal(const std::string& file) {
    try {
      (void)read_quadratic_stream(file);
    } catch (const DataError& e) {
      const std::string message = e.what();
      EXPECT_EQ(message.substr(0, file.size() + 2), file + ": ") << "every message begins with the file";
      return message.substr(std::min(message.size(), file.size() + 2));
    }
    return "accepted";
  }
  // The stream with one value of round 2 replaced.
  [[nodiscard]] std::string refusal(const std::string& key, const json& value) const {
    json stream = good();
    stream["rounds"][1][key] = value;
    return refusal(stream);
  }

  static json good() {
    return json::parse(R"({"dims": {"x": 2, "y": 3}, "rounds": [
      {"A": [[2, 0.5, 0], [0.5, 3, 0], [0, 0, 1]], "B": [[1, 2], [3, 4], [5, 6]], "b": [1, -1, 0.5],
       "w": 0.7, "c": [0.1, 0.2, 0.3], "s": 0.25, "r": 1e-1, "e": [1, 2]},
      {"A": [[2, 0, 0], [0, 2, 0], [0, 0, 2]], "B": [[1, 0], [0, 1], [1, 1]], "b": [0, 0, 0], "w": -1,
       "c": [1, 1, 1], "s": 0, "r": 0, "e": [-3, -3]},
      {"A": [[2, 0.5, 0], [0.5, 3, 0], [0, 0, 1]], "B": [[1, 2], [3, 4], [5, 6]], "b": [4, 4, 4],
       "w": 0.7, "c": [0.1, 0.2, 0.3], "s": 0.25, "r": 1e-1, "e": [1, 2]}]})");
  }

 private:
  std::filesystem::path folder_;
};

TEST_F(QuadraticFileTest, ReadsEveryNumber) {
  const auto rounds = read(good());
  ASSERT_EQ(rounds.size(), 3u);
  const QuadraticRound<double>& q = rounds[0];
  EXPECT_EQ(q.A, (Matrix<double>(3, 3) << 2, 0.5, 0, 0.5, 3, 0, 0, 0, 1).finished());
  EXPECT_EQ(q.B, (Matrix<double>(3, 2) << 1, 2, 3, 4, 5, 6).finished());
  EXPECT_EQ(q.b, (Vector<double>(3) << 1, -1, 0.5).finished());
  EXPECT_EQ(q.c, (Vector<double>(3) << 0.1, 0.2, 0.3).finished());
  EXPECT_EQ(q.e, at(1, 2));
  EXPECT_EQ(q.w, 0.7);
  EXPECT_EQ(q.s, 0.25);
  EXPECT_EQ(q.r, 0.1);
}

TEST_F(QuadraticFileTest, WhereASizeIsOneAPlainNumberWillDo) {
  const auto rounds =
      read_text(R"({"dims":{"x":1,"y":1},"rounds":[{"A":2,"B":0.5,"b":-1,"w":1,"c":3,"s":0,"r":0,"e":4}]})");
  EXPECT_EQ(rounds[0].A, Matrix<double>::Constant(1, 1, 2.0).eval());
  EXPECT_EQ(rounds[0].B, Matrix<double>::Constant(1, 1, 0.5).eval());
  EXPECT_EQ(rounds[0].b, Vector<double>::Constant(1, -1.0).eval());
  EXPECT_EQ(rounds[0].e, Vector<double>::Constant(1, 4.0).eval());
}

TEST_F(QuadraticFileTest, TheOrderOfKeysAndTheSpellingOfNumbersDoNotMatter) {
  const auto rounds = read_text(R"({"rounds":[{"e":[0],"r":0.0,"s":-0,"c":[1e0],"w":123456789012345678901234567890,
    "b":[-2.5E-1],"B":[[4]],"A":[[1]]}],"dims":{"y":1.0,"x":1}})");
  EXPECT_EQ(rounds[0].w, 123456789012345678901234567890.0);
  EXPECT_EQ(rounds[0].b(0), -0.25);
  EXPECT_EQ(rounds[0].B(0, 0), 4.0);
  EXPECT_EQ(read_text("\xEF\xBB\xBF" + good().dump(2)).size(), 3u) << "a byte-order mark and line breaks are harmless";
}

TEST_F(QuadraticFileTest, RoundingOfTheWriterIsTakenOutOfA) {
  json stream = good();
  stream["rounds"][0]["A"][0][1] = 0.5 + 1e-13;
  const Matrix<double> A = read(stream)[0].A;
  EXPECT_EQ(A(0, 1), A(1, 0));
  EXPECT_NEAR(A(0, 1), 0.5 + 0.5e-13, epsilon);
}

// Every fault names round (from 1) and key, what was got and what was expected.

TEST_F(QuadraticFileTest, FaultsInFindingTheFile) {
  EXPECT_NE(path_refusal(path("absent.json")).find("no such file"), std::string::npos);
  EXPECT_NE(path_refusal(std::filesystem::path(path()).parent_path().string()).find("a folder"), std::string::npos);
  EXPECT_NE(path_refusal("/dev/zero").find("special file"), std::string::npos) << "it would never end";
}

TEST_F(QuadraticFileTest, AFileBeyondTheCapIsNotEvenOpened) {
  write("{");
  std::filesystem::resize_file(path(), (std::uintmax_t{1} << 30) + 1);  // a hole: takes no room on the disc
  EXPECT_EQ(path_refusal(path()), "got 1073741825 bytes, expected at most 1073741824");
}

TEST_F(QuadraticFileTest, BrokenJsonIsNamedByLineAndColumn) {
  const std::string whole = good().dump(1);
  EXPECT_NE(text_refusal("").find("broken JSON: parse error at line 1, column 1"), std::string::npos);
  EXPECT_NE(text_refusal("{\n\"dims\": nonsense}").find("line 2, column "), std::string::npos);
  EXPECT_NE(text_refusal(whole + "}").find("broken JSON"), std::string::npos) << "something after the end";
  const std::string cut = text_refusal(whole.substr(0, whole.find("-1,")));
  EXPECT_EQ(cut.substr(0, 35), "round 1, key 'b': broken JSON: pars") << "and by the place in the stream";
}

TEST_F(QuadraticFileTest, BareNotANumberAsPythonWritesItIsRefusedByPlace) {
  std::string text = good().dump();
  text.replace(text.find("-1,"), 2, "NaN");
  EXPECT_EQ(text_refusal(text).substr(0, 31), "round 1, key 'b': broken JSON: ");
  text = good().dump();
  text.replace(text.find("0.25"), 4, "-Infinity");
  EXPECT_EQ(text_refusal(text).substr(0, 31), "round 1, key 's': broken JSON: ");
}

TEST_F(QuadraticFileTest, NumbersBeyondADoubleAreRefused) {
  for (const std::string huge : {"1e999", "-1e999"}) {
    std::string text = good().dump();
    text.replace(text.find("0.25"), 4, huge);
    EXPECT_EQ(text_refusal(text),
              "round 1, key 's': got " + huge + ", too large for a double, expected a finite number");
  }
  std::string text = good().dump();
  text.replace(text.find("0.5"), 3, "1e400");
  EXPECT_EQ(text_refusal(text), "round 1, key 'A', row 1: got 1e400, too large for a double, expected a finite number");
}

TEST_F(QuadraticFileTest, MissingKeys) {
  for (const char* key : {"A", "B", "b", "w", "c", "s", "r", "e"}) {
    json stream = good();
    stream["rounds"][2].erase(key);
    EXPECT_EQ(refusal(stream), std::string("round 3, key '") + key + "': missing");
  }
  json stream = good();
  stream.erase("dims");
  EXPECT_EQ(refusal(stream), "key 'dims': missing");
  stream = good();
  stream.erase("rounds");
  EXPECT_EQ(refusal(stream), "key 'rounds': missing");
  stream = good();
  stream["dims"].erase("y");
  EXPECT_EQ(refusal(stream), "dims, key 'y': missing");
  stream["rounds"] = json::array();
  stream["dims"]["y"] = 3;
  EXPECT_EQ(refusal(stream), "key 'rounds': got an empty list, expected at least one round");
}

TEST_F(QuadraticFileTest, UnknownAndRepeatedKeys) {
  json stream = good();
  stream["rounds"][1]["lambda"] = 1;
  EXPECT_EQ(refusal(stream), "round 2: unknown key 'lambda', expected one of A, B, b, w, c, s, r, e");
  stream = good();
  stream["comment"] = "mine";
  EXPECT_EQ(refusal(stream), "unknown key 'comment', expected one of dims, rounds");
  stream = good();
  stream["dims"]["z"] = 1;
  EXPECT_EQ(refusal(stream), "dims: unknown key 'z', expected one of x, y");
  EXPECT_EQ(text_refusal(R"({"rounds":[{"w":1,"w":1}]})"), "round 1, key 'w': given twice, expected once");
  EXPECT_EQ(text_refusal(R"({"dims":{"x":1,"y":1},"dims":{"x":1,"y":1}})"), "key 'dims': given twice, expected once");
  EXPECT_EQ(text_refusal(R"({"dims":{"x":1,"x":1}})"), "dims, key 'x': given twice, expected once");
}

TEST_F(QuadraticFileTest, WrongSizes) {
  EXPECT_EQ(refusal("A", {{1, 0, 0}, {0, 1, 0}}), "round 2, key 'A': got 2 rows, expected 3 rows of 3 numbers");
  EXPECT_EQ(refusal("A", {{1, 0, 0}, {0, 1}, {0, 0, 1}}), "round 2, key 'A', row 2: got 2 numbers, expected 3");
  EXPECT_EQ(refusal("A", {1, 0, 0}), "round 2, key 'A': got a list of 3 numbers, expected 3 rows of 3 numbers");
  EXPECT_EQ(refusal("B", {{1, 0, 1}, {0, 1, 1}}), "round 2, key 'B': got 2 rows, expected 3 rows of 2 numbers");
  EXPECT_EQ(refusal("B", 1), "round 2, key 'B': got a single number, expected 3 rows of 2 numbers");
  EXPECT_EQ(refusal("b", 0.5), "round 2, key 'b': got a single number, expected a list of 3 numbers");
  EXPECT_EQ(refusal("b", {1, 2}), "round 2, key 'b': got a list of 2 numbers, expected a list of 3 numbers");
  EXPECT_EQ(refusal("b", json::array()), "round 2, key 'b': got a list of 0 numbers, expected a list of 3 numbers");
  EXPECT_EQ(refusal("c", {{1, 2, 3}}), "round 2, key 'c': got 1 rows, expected a list of 3 numbers");
  EXPECT_EQ(refusal("e", {1, 2, 3}), "round 2, key 'e': got a list of 3 numbers, expected a list of 2 numbers");
  EXPECT_EQ(refusal("w", {1.0}), "round 2, key 'w': got a list of 1 numbers, expected a single number");
}

TEST_F(QuadraticFileTest, WrongTypes) {
  EXPECT_EQ(refusal("s", "0.5"), "round 2, key 's': got the string \"0.5\", expected a finite number");
  EXPECT_EQ(refusal("r", nullptr), "round 2, key 'r': got null, expected a finite number");
  EXPECT_EQ(refusal("b", "zero"),
            "round 2, key 'b': got the string \"zero\", expected a list of numbers or a finite number");
  EXPECT_EQ(refusal("c", {0, "NaN", 0}), "round 2, key 'c': got the string \"NaN\", expected a finite number");
  EXPECT_EQ(refusal("e", {true, false}), "round 2, key 'e': got true, expected a finite number");
  EXPECT_EQ(refusal("A", json::object()),
            "round 2, key 'A': got an object, expected a list of rows or a finite number");
  EXPECT_EQ(refusal("A", {{1, 0, 0}, 7}), "round 2, key 'A': got the number 7, expected a list of numbers");
  EXPECT_EQ(refusal("b", {1, {2}}), "round 2, key 'b': got a list, expected a finite number");
  EXPECT_EQ(refusal("A", {{{1}}}), "round 2, key 'A', row 1: got a list, expected a finite number");
  json stream = good();
  stream["rounds"][1] = 3;
  EXPECT_EQ(refusal(stream), "round 2: got the number 3, expected an object with the keys A, B, b, w, c, s, r, e");
  stream["rounds"] = json::object();
  EXPECT_EQ(refusal(stream), "key 'rounds': got an object, expected a list of rounds");
  stream["dims"] = {2, 3};
  EXPECT_EQ(refusal(stream), "key 'dims': got a list, expected an object with the keys x and y");
  for (const char* text : {"[]", "null", "3", "\"text\""})
    EXPECT_NE(text_refusal(text).find("expected an object with the keys dims and rounds"), std::string::npos) << text;
}

TEST_F(QuadraticFileTest, DimensionsAreWholeNumbersFromOneToTenThousand) {
  for (const json& wrong : {json(0), json(-2), json(2.5), json(10'001), json(1e300)}) {
    json stream = good();
    stream["dims"]["x"] = wrong;
    const std::string message = refusal(stream);
    EXPECT_EQ(message.substr(0, 20), "dims, key 'x': got " + wrong.dump().substr(0, 1)) << message;
    EXPECT_NE(message.find("expected a whole number from 1 to 10000"), std::string::npos);
  }
  json stream = good();
  stream["dims"]["y"] = "3";
  EXPECT_EQ(refusal(stream), "dims, key 'y': got the string \"3\", expected a whole number from 1 to 10000");
}

TEST_F(QuadraticFileTest, AMustBeSymmetric) {
  EXPECT_EQ(refusal("A", {{2, 0.5, 0}, {0, 2, 0}, {0, 0, 2}}),
            "round 2, key 'A', row 2: got 0 in column 1 but 0.5 in row 1, column 2, expected a symmetric matrix");
  EXPECT_NE(refusal("A", {{2, 1e-11, 0}, {0, 2, 0}, {0, 0, 2}}).find("symmetric"), std::string::npos);
}

TEST_F(QuadraticFileTest, AMustBePositiveDefinite) {
  const std::string start = "round 2, key 'A': got a matrix with smallest eigenvalue ";
  EXPECT_EQ(refusal("A", {{1, 2, 0}, {2, 1, 0}, {0, 0, 1}}), start + "-1, expected a positive definite matrix");
  EXPECT_EQ(refusal("A", {{-2, 0, 0}, {0, 1, 0}, {0, 0, 1}}), start + "-2, expected a positive definite matrix");
  EXPECT_EQ(refusal("A", {{0, 0, 0}, {0, 1, 0}, {0, 0, 1}}), start + "0, expected a positive definite matrix");
  const std::string singular = refusal("A", {{1, 1, 0}, {1, 1, 0}, {0, 0, 1}});
  EXPECT_EQ(singular.substr(0, start.size()), start) << "singular";
  // (1, 1/3)(1, 1/3)' has the pivots 1 and a rounding of 0
  const double third = 1.0 / 3.0;
  EXPECT_NE(refusal("A", {{1, third, 0}, {third, third * third + 1e-17, 0}, {0, 0, 1}}).find("positive definite"),
            std::string::npos);
  json stream = good();
  stream["rounds"][2]["A"] = -1;
  EXPECT_NE(refusal(stream).find("round 3, key 'A'"), std::string::npos) << "rounds after the first are looked at";
}

TEST_F(QuadraticFileTest, DeepNestingEndsAtTheFirstBracketTooMany) {
  const std::string brackets(1'000'000, '[');
  EXPECT_NE(text_refusal(brackets).find("got a list"), std::string::npos);
  EXPECT_EQ(text_refusal(R"({"rounds":[{"A":)" + brackets),
            "round 1, key 'A', row 1: got a list, expected a finite number");
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += R"({"dims":)";
  EXPECT_EQ(text_refusal(objects), "dims: unknown key 'dims', expected one of x, y");
}

TEST_F(QuadraticFileTest, ShorthandCannotAskForMoreMemoryThanTheCap) {
  const std::string round = R"({"A":1,"B":0,"b":0,"w":1,"c":0,"s":0,"r":0,"e":0})";
  EXPECT_EQ(text_refusal(R"({"dims":{"x":10000,"y":10000},"rounds":[)" + round + "," + round + "]}"),
            "key 'rounds': got 2 rounds of 200030000 numbers each, expected at most 250000000 numbers in all");
}

// The problem made of it.

TEST_F(QuadraticFileTest, PassesEveryCheckInBothPrecisions) {
  json stream = good();
  stream["rounds"][1]["w"] = 1.5;
  write(stream.dump());
  for (const double noise : {0.0, 0.2}) {
    const QuadraticFileOptions options{.path = path(), .noise = noise, .noise_cross = noise};
    const CheckOptions where{.rounds = {1, 2, 3, 4, 8}, .points = 1, .draws = 300};
    QuadraticFile<double> p(options, 0);
    EXPECT_TRUE(passes(check_oracle(p, where)));
    EXPECT_TRUE(passes(check_primitives(p, where)));
    QuadraticFile<float> q(options, 0);
    EXPECT_TRUE(passes(check_oracle(q, where)));
    EXPECT_TRUE(passes(check_primitives(q, where)));
  }
}

TEST_F(QuadraticFileTest, RoundsRepeatCyclically) {
  write(good().dump());
  QuadraticFile<double> p({.path = path()}, 0);
  EXPECT_EQ(p.dims(), (Dims{2, 3}));
  const Vector<double> x = at(0.3, -0.4);
  for (Round t = 1; t <= 3; ++t) {
    const double expected = value_of_F(p, t, x);
    for (const Round later : {t + 3, t + 6, t + 3'000'000'000}) EXPECT_EQ(value_of_F(p, later, x), expected);
  }
  EXPECT_NE(value_of_F(p, 1, x), value_of_F(p, 2, x));
  EXPECT_NE(value_of_F(p, 1, x), value_of_F(p, 3, x));
}

// Rounds 1 and 3 share A, round 2 does not: a factorisation kept too long would show in one order or the other.
TEST_F(QuadraticFileTest, TheSolutionIsThatOfTheRoundWhateverCameBefore) {
  write(good().dump());
  const auto rounds = read_quadratic_stream(path());
  QuadraticFile<double> p({.path = path()}, 0);
  const Vector<double> x = at(0.3, -0.4);
  for (const Round t : {1, 2, 3, 1, 3, 2, 1, 1, 2, 2, 3, 4, 6, 5}) {
    const QuadraticRound<double>& q = rounds[std::size_t(t - 1) % 3];
    const Vector<double> residual = q.A * solution_at(p, t, x) - q.B * x - q.b;
    EXPECT_LE(residual.norm(), 100 * epsilon) << "round " << t;
  }
}

TEST_F(QuadraticFileTest, ConstantsCoverEveryRound) {
  write(good().dump());
  QuadraticFile<double> p({.path = path()}, 0);
  const Constants k = p.constants(ConvexSet::box(-1.0, 1.0));
  EXPECT_NEAR(k.mu_g, 1.0, 10 * epsilon);  // round 1; round 2 has 2
  EXPECT_EQ(k.L_f1, 1.25);                 // |w| = 1 in round 2 and |s| = 0.25 in the others, each at its largest
  EXPECT_GE(k.L_g1, 9.0);                  // |B| alone is 9.5 in round 1
  for (Round t = 1; t <= 3; ++t)
    for (const Vector<double>& x : {at(1, 1), at(-1, 1), at(1, -1), at(-1, -1)}) {
      EXPECT_LE(std::abs(value_of_F(p, t, x)), k.M);
      Vector<double> in_x(2), in_y(3);
      const Vector<double> y = solution_at(p, t, x);
      p.outer_gradient_x(x, y, in_x);
      p.outer_gradient_y(x, y, in_y);
      EXPECT_LE(std::hypot(in_x.norm(), in_y.norm()), k.L_f0);
    }
}

TEST_F(QuadraticFileTest, VariationsAreExactWhereKnownAndUnsetElsewhere) {
  json stream = good();
  for (json& round : stream["rounds"]) round["s"] = 0;
  stream["rounds"].push_back(stream["rounds"][2]);
  stream["rounds"][3]["b"] = {0, 1, 2};
  stream["rounds"][3]["c"] = {1, 0, 0};
  stream["rounds"][3]["e"] = {0, 5};
  write(stream.dump());
  QuadraticFile<double> p({.path = path()}, 0);
  for (const test::TriedSet& tried : test::bounded_plane_sets()) {
    const Variation v = p.variation(4, tried.set);
    const double found = test::max_change_of_F(p, 4, tried.extremes);
    // F reaches some 1000 here, and is subtracted from F
    EXPECT_LE(found, v.value.value() + 1e5 * epsilon);
    EXPECT_GE(found, v.value.value() * (1 - tried.share) - 1e5 * epsilon);
    const Vector<double> moved = solution_at(p, 4, at(0, 0)) - solution_at(p, 3, at(0, 0));
    EXPECT_NEAR(v.solution.value(), moved.squaredNorm(), 1000 * epsilon);
    EXPECT_EQ(v.inner_gradient.value(), 16.0 + 9.0 + 4.0);  // b: (4, 4, 4) → (0, 1, 2)
    EXPECT_NEAR(v.outer_gradient.value(), 0.49 * (0.81 + 0.04 + 0.09), 10 * epsilon);
    const Variation unknown = p.variation(2, tried.set);  // A, B and w change
    EXPECT_FALSE(unknown.value || unknown.solution || unknown.outer_gradient || unknown.inner_gradient);
    EXPECT_FALSE(unknown.outer_gradient_x);  // r changes
    // Spectral norms against the largest |Du| of many unit vectors, each within 1e-3 of the best one.
    Vector<double> a(3), b(3), c(2), d(2);
    double hessian = 0.0, cross = 0.0;
    Rng rng(1);
    for (int i = 0; i < 20'000; ++i) {
      Vector<double> u(3);
      rng.fill_normal(u);
      u.normalize();
      p.reveal(1);
      p.inner_hvp_yy(at(0, 0), u, u, a);
      p.inner_hvp_xy(at(0, 0), u, u, c);
      p.reveal(2);
      p.inner_hvp_yy(at(0, 0), u, u, b);
      p.inner_hvp_xy(at(0, 0), u, u, d);
      hessian = std::max(hessian, (b - a).squaredNorm());
      cross = std::max(cross, (d - c).squaredNorm());
    }
    EXPECT_NEAR(hessian / unknown.inner_hessian.value(), 1.0, 1e-3);
    EXPECT_LE(hessian, unknown.inner_hessian.value() * (1 + 100 * epsilon));
    EXPECT_NEAR(cross / unknown.inner_cross.value(), 1.0, 1e-3);
    EXPECT_LE(cross, unknown.inner_cross.value() * (1 + 100 * epsilon));
  }
  EXPECT_EQ(p.variation(4, ConvexSet::all()).value.value(), std::numeric_limits<double>::infinity());
}

}  // namespace
