// Rounds of SF²OBO on 20 Newsgroups, timed and written out for text_vs_torch.py, which speaks to it in lines:
//     build/bench/bench/text_rounds THREADS
//     data STEM                 the training rows into files STEM.…, and the settings of the rounds
//     batches MODE COUNT STEM   rows and labels of the first rounds; fresh: of every inner step
//     iterates MODE COUNT STEM  x, y and z after the first rounds
//     MODE COUNT                seconds per round over that many further rounds, reveal and step, and bytes touched
//     full COUNT                seconds for the first rounds together, batches reused
//     bandwidth                 bytes a second, read and written in place
// Modes: reuse (the round's batch for all K steps), fresh (every inner step draws), dual and order2 (on the round's
// batch), dense (reuse without the kernels). Every answer is a line of JSON.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "obolus/any/session.hpp"
#include "obolus/core/parallel.hpp"
#include "obolus/optimisers/sf2obo.hpp"
#include "obolus/problems/softmax_l2.hpp"

namespace {

using namespace obolus;

constexpr std::uint64_t seed = 1;
constexpr std::int64_t batch = 256, inner_steps = 5;
constexpr double alpha = 0.1, gamma_x = 1e-3, lambda1 = 5.0, tau = 1.0, max_x = 0.1, start_x = 1e-4;

SoftmaxOptions problem_options(const std::string& mode) {
  SoftmaxOptions options;
  options.data = SoftmaxData::newsgroups;
  options.feed = Feed::split;
  options.batch = mode == "fresh" ? 0 : batch;  // draws come from the whole pools
  return options;
}

Sf2obo optimiser_of(const std::string& mode) {
  Sf2oboOptions o{.alpha = alpha, .gamma = gamma_x, .lambda1 = lambda1, .tau = tau, .inner_steps = double(inner_steps)};
  o.samples = mode == "fresh" ? Samples::fresh : Samples::given;
  o.batch = o.outer_batch = double(batch);
  o.order = mode == "order2" ? 2 : 1;
  o.warm_start = mode == "dual" || mode == "order2" ? WarmStart::dual : WarmStart::separate;
  return {o, ConvexSet::box(0.0, max_x)};
}

template <class Call>
double seconds(Call&& call) {
  const auto start = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// A session with its problem and the round it has come to.
class Course {
 public:
  virtual ~Course() = default;
  virtual void round() = 0;
  virtual AnySession<float>& session() = 0;
  [[nodiscard]] Round done() const { return t_; }

 protected:
  Round t_ = 0;
};

template <class Problem>
class CourseOn final : public Course {
 public:
  CourseOn(const std::string& mode, int threads) : problem_(problem_options(mode), seed), session_(make(mode)) {
    if constexpr (requires { problem_.set_threads(threads); }) problem_.set_threads(threads);
  }
  void round() override {
    problem_.reveal(++t_);
    if (session_->step(rng_).status != Status::ok) throw std::runtime_error("a round diverged");
  }
  AnySession<float>& session() override { return *session_; }

 private:
  auto make(const std::string& mode) {
    const Dims dims = problem_.dims();
    return std::make_unique<Session<Sf2obo, Problem>>(
        optimiser_of(mode), problem_, Vector<float>::Constant(dims.x, float(start_x)), Vector<float>::Zero(dims.y));
  }

  Problem problem_;
  std::unique_ptr<Session<Sf2obo, Problem>> session_;
  Rng rng_{seed};
};

std::unique_ptr<Course> course(const std::string& mode, int threads) {
  if (mode == "dense") return std::make_unique<CourseOn<SoftmaxOracle<float>>>(mode, threads);
  return std::make_unique<CourseOn<SoftmaxL2<float>>>(mode, threads);
}

// The batches of a round: one, or one for each inner step. The draws are those of the optimiser.
std::vector<RoundRows> batches_of(SoftmaxPools& pools, const std::string& mode, Round t) {
  std::vector<RoundRows> all(mode == "fresh" ? std::size_t(inner_steps) : 1);
  Rng draws = Rng(seed).child("samples", static_cast<std::uint64_t>(t));
  for (RoundRows& rows : all) {
    if (mode == "fresh") pools.draw(t, {batch, batch}, draws, rows);
    else pools.of_round(t, rows);
  }
  return all;
}

// Bytes of weights and of numbers by feature that a round reads and writes, as its kernels are written. Not counted:
// indices and values of the batch, scalars of single features, and what stays in the nearest cache (logits, residuals).
struct Traffic {
  double rows = 0;     // rows of y and z in storage, gathered and scattered
  double compact = 0;  // compact rows of features of several documents, in every step
  double sweeps = 0;   // passes over all features
};

class TrafficCounter {
 public:
  explicit TrafficCounter(const SparseRows& data, Index classes)
      : data_(data), row_(double((classes + 3) / 4 * 4 * Index(sizeof(float)))), count_(std::size_t(data.columns)) {}

  void add(const std::string& mode, const RoundRows& rows, Traffic& sum) {
    count(rows);
    if (mode == "fresh") by_rows(sum);
    else by_columns(mode, double(inner_steps), sum);
  }
  // Outer step: d written from the shared numbers, d tested, x moved and projected, tested.
  void add_outer_step(const std::string& mode, Traffic& sum) const { sum.sweeps += numbers(mode == "dual" ? 8 : 7); }

 private:
  struct Kind {
    double entries = 0, singles = 0, several = 0;  // entries in all, of features of one document, of others
  };

  static constexpr double shrinking = 11;  // x; scale and norm of both, and what they share, in place

  [[nodiscard]] double numbers(double passes) const { return passes * double(data_.columns) * sizeof(float); }
  template <class Body>
  void each(const RoundRows& rows, Body&& body) const {
    for (Index r = 0; r < rows.size(); ++r) {
      const auto row = std::size_t(rows.row[std::size_t(r)]);
      for (auto k = data_.start[row]; k < data_.start[row + 1]; ++k)
        body(std::size_t(data_.column[std::size_t(k)]), r < rows.inner);
    }
  }

  void count(const RoundRows& rows) {
    std::fill(count_.begin(), count_.end(), 0);
    each(rows, [&](std::size_t f, bool) { ++count_[f]; });
    g_ = f_ = {};
    met_ = several_ = 0;
    each(rows, [&](std::size_t f, bool inner) {
      Kind& kind = inner ? g_ : f_;
      ++kind.entries, ++(count_[f] == 1 ? kind.singles : kind.several);
    });
    for (std::size_t f = 0; f < count_.size(); ++f) met_ += count_[f] > 0, several_ += count_[f] > 1;
  }

  // A block of K steps: begin and finish touch storage, the steps between them compact rows. The first of a pair (z, or
  // the mean) reads f's rows only beside a w, and they change it only under order 2.
  void by_columns(const std::string& mode, double steps, Traffic& sum) const {
    const bool reads = mode == "dual" || mode == "order2", writes = mode == "order2";
    const auto iterate = [&](bool reads_f, bool writes_f) {
      const double begin = g_.singles + (reads_f ? f_.singles : 0) + several_;
      const double finish = 2 * g_.singles + (writes_f ? 2 : 1) * f_.singles + several_;
      const double forward = g_.several + (reads_f ? f_.several : 0);
      sum.rows += row_ * (begin + finish);
      sum.compact += row_ * (2 * several_ + steps * (forward + 2 * several_));
    };
    iterate(true, true);
    iterate(reads, writes);
    sum.sweeps += numbers(shrinking);
  }

  // A single step: every feature met is gathered into a compact row and stored again; documents read it, then change
  // it.
  void by_rows(Traffic& sum) const {
    const double y = g_.entries + f_.entries, z = g_.entries;
    sum.rows += row_ * 4 * met_;
    sum.compact += row_ * (2 * 4 * met_ + 3 * y + 3 * z);
    sum.sweeps += numbers(shrinking);
  }

  const SparseRows& data_;
  double row_;
  std::vector<int> count_;
  Kind g_, f_;
  double met_ = 0, several_ = 0;  // features in all, of several documents
};

template <class Numbers>
void write(const std::string& path, const Numbers& numbers) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(numbers.data()),
             static_cast<std::streamsize>(std::size_t(numbers.size()) * sizeof(*numbers.data())));
}

class Program {
 public:
  explicit Program(int threads)
      : threads_(threads),
        plain_(problem_options("reuse"), seed),
        traffic_(plain_.pools().data().train, plain_.pools().classes()) {}

  void answer(const std::string& line) {
    std::istringstream words(line);
    std::string verb;
    words >> verb;
    if (verb == "data") return data(next(words));
    if (verb == "bandwidth") return bandwidth();
    if (verb == "full") return full(std::stoll(next(words)));
    if (verb == "batches" || verb == "iterates") {
      const std::string mode = known(next(words));
      const Round rounds = std::stoll(next(words));
      return verb == "batches" ? batches(mode, rounds, next(words)) : iterates(mode, rounds, next(words));
    }
    time(known(verb), std::stoll(next(words)));
  }

 private:
  static std::string next(std::istringstream& words) {
    std::string word;
    if (!(words >> word)) throw std::runtime_error("a word is missing in '" + words.str() + "'");
    return word;
  }
  static std::string known(const std::string& mode) {
    for (const char* name : {"reuse", "fresh", "dual", "order2", "dense"})
      if (mode == name) return mode;
    throw std::runtime_error("no mode is called '" + mode + "'");
  }

  void data(const std::string& stem) {
    const SparseRows& rows = plain_.pools().data().train;
    write(stem + ".start", rows.start);
    write(stem + ".column", rows.column);
    write(stem + ".value", rows.value);
    std::printf(
        "{\"documents\": %td, \"features\": %td, \"classes\": %td, \"batch\": %td, \"inner_steps\": %td, \"alpha\": "
        "%g, "
        "\"gamma\": %g, \"lambda1\": %g, \"tau\": %g, \"most_x\": %g, \"start_x\": %g, \"kernels\": \"%s\"}\n",
        rows.rows(), rows.columns, plain_.pools().classes(), std::ptrdiff_t(batch), std::ptrdiff_t(inner_steps), alpha,
        gamma_x, lambda1, tau, max_x, start_x, SoftmaxL2<float>(problem_options("reuse"), seed).kernels());
  }

  void batches(const std::string& mode, Round rounds, const std::string& stem) {
    std::vector<std::int32_t> row, label;
    for (Round t = 1; t <= rounds; ++t)
      for (const RoundRows& rows : batches_of(plain_.pools(), mode, t)) {
        row.insert(row.end(), rows.row.begin(), rows.row.end());
        label.insert(label.end(), rows.label.begin(), rows.label.end());
      }
    write(stem + ".row", row);
    write(stem + ".label", label);
    std::printf("{\"rounds\": %td}\n", std::ptrdiff_t(rounds));
  }

  void iterates(const std::string& mode, Round rounds, const std::string& stem) {
    const auto run = course(mode, threads_);
    for (Round t = 0; t < rounds; ++t) run->round();
    Vector<float> weights(plain_.dims().y);
    write(stem + ".x", run->session().x());
    run->session().read_y(weights);
    write(stem + ".y", weights);
    run->session().read_z(weights);
    write(stem + ".z", weights);
    std::printf("{\"rounds\": %td}\n", std::ptrdiff_t(rounds));
  }

  void time(const std::string& mode, Round rounds) {
    if (rounds < 1) throw std::runtime_error("at least one round is needed");
    std::unique_ptr<Course>& run = courses_[mode];
    if (!run) run = course(mode, threads_), run->round();  // the first one allocates
    const Round first = run->done() + 1;
    std::vector<double> each(static_cast<std::size_t>(rounds));
    const double all = seconds([&] {
      for (double& one : each) one = seconds([&] { run->round(); });
    });
    std::sort(each.begin(), each.end());
    const Traffic bytes = traffic(mode, first, run->done());
    std::printf(
        "{\"seconds\": %.9g, \"least\": %.9g, \"median\": %.9g, \"rows\": %.9g, \"compact\": %.9g, \"sweeps\": %.9g}\n",
        all / double(rounds), each.front(), each[each.size() / 2], bytes.rows, bytes.compact, bytes.sweeps);
  }

  // On average over a few of the rounds; none for the dense form, whose passes are Eigen's.
  Traffic traffic(const std::string& mode, Round first, Round last) {
    Traffic sum;
    if (mode == "dense") return sum;
    last = std::min(last, first + 9);
    for (Round t = first; t <= last; ++t) {
      for (const RoundRows& rows : batches_of(plain_.pools(), mode, t)) traffic_.add(mode, rows, sum);
      traffic_.add_outer_step(mode, sum);
    }
    const double n = double(last - first + 1);
    return {sum.rows / n, sum.compact / n, sum.sweeps / n};
  }

  void full(Round rounds) {
    const auto run = course("reuse", threads_);
    std::printf("{\"seconds\": %.9g}\n", seconds([&] {
                  for (Round t = 0; t < rounds; ++t) run->round();
                }));
  }

  void bandwidth() {
    constexpr Index numbers = Index{64} << 20, chunk = Index{1} << 16;  // 256 MB
    if (array_.size() == 0) array_.setOnes(numbers), pool_ = std::make_unique<ThreadPool>(threads_);
    double min = 1e9;
    for (int pass = 0; pass < 5; ++pass)
      min = std::min(min, seconds([&] {
                       pool_->run(numbers / chunk, [&](Index i) { array_.segment(i * chunk, chunk) *= 0.999f; });
                     }));
    std::printf("{\"bytes\": %.9g}\n", 2.0 * sizeof(float) * double(numbers) / min);
  }

  int threads_;
  SoftmaxOracle<float> plain_;  // asked for rows only
  TrafficCounter traffic_;
  std::map<std::string, std::unique_ptr<Course>> courses_;
  Vector<float> array_;
  std::unique_ptr<ThreadPool> pool_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: text_rounds THREADS\n";
    return 2;
  }
  try {
    Program program(std::max(1, std::atoi(argv[1])));
    for (std::string line; std::getline(std::cin, line);) program.answer(line), std::fflush(stdout);
  } catch (const std::exception& e) {
    std::cerr << "text_rounds: " << e.what() << '\n';
    return 1;
  }
}
