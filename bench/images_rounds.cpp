// One side of images_vs_torch.py: gradients and Hessian-vector products of the network of `loss_tuning`, timed on
// demand. Commands come on standard input, one a line:
//   case CHANNELS BATCH   e.g. `case 64,64,64,64 256`  → ready PARAMETERS OPERATIONS of a gradient
//   gradient SECONDS      time gradients               → LEAST_MS RUNS
//   product SECONDS       products at one point        → LEAST_MS RUNS
//   peak SECONDS          multiply-adds from registers → GFLOPS, all threads
//   check PATH            a small batch and its results as JSON → done
//   quit
#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <iostream>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "kernels/network/network.hpp"
#include "obolus/core/rng.hpp"
#include "problems/class_loss.hpp"

namespace {

using namespace obolus;
using Clock = std::chrono::steady_clock;
constexpr int classes = 10, side = 28;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

struct Work {
  Network<float> net;
  int batch;
  std::vector<float> theta, direction, pictures, out, x, slope_x;
  std::vector<std::int32_t> label;

  Work(const std::vector<Index>& channels, int count, int threads)
      : net({side, side, channels, {}, classes}), batch(count) {
    net.set_threads(threads);
    Rng rng(7);
    const auto fill = [&](std::vector<float>& v, std::size_t n, double size) {
      v.resize(n);
      for (float& number : v) number = static_cast<float>(size * rng.normal());
    };
    const auto parameters = static_cast<std::size_t>(net.parameters());
    fill(theta, parameters, 0.06);
    fill(direction, parameters, 1.0);
    fill(pictures, static_cast<std::size_t>(batch) * side * side, 1.0);
    x.assign(2 * classes, 0.0f);
    slope_x.resize(2 * classes);
    out.resize(parameters);
    std::fill_n(x.begin(), classes, 1.0f);
    for (int i = 0; i < batch; ++i) label.push_back(static_cast<std::int32_t>(rng.below(classes)));
  }

  double gradient() {
    net.forward(theta.data(), pictures.data(), batch);
    const double loss = scaled_loss(net, label, x.data(), slope_x.data());
    net.backward(out.data());
    return loss;
  }
  void product() {
    net.tangent(direction.data());
    scaled_loss_tangent(net, label, x.data(), static_cast<float*>(nullptr));
    net.tangent_backward(out.data());
  }
};

template <class Body>
void time(double seconds, Body&& body) {
  double min = std::numeric_limits<double>::infinity();
  int runs = 0;
  body();
  for (const auto start = Clock::now(); seconds_since(start) < seconds || runs < 3; ++runs) {
    const auto now = Clock::now();
    body();
    min = std::min(min, seconds_since(now));
  }
  std::cout << min * 1e3 << ' ' << runs << std::endl;
}

// The kernels' own product of matrices, small enough to stay in the nearest cache: nothing but multiply-adds.
double peak(double seconds, int threads) {
  constexpr int rows = 12, depth = 64, repeats = 2000;
  const auto& table = kernels::network::table<float>();
  const int columns = 2 * table.pack;
  ThreadPool pool(threads);
  double max = 0.0;
  std::vector<std::vector<float>> memory(static_cast<std::size_t>(threads));
  for (auto& m : memory)
    m.assign(static_cast<std::size_t>(rows * depth + depth * columns + rows * columns + 64), 1e-3f);
  for (const auto start = Clock::now(); seconds_since(start) < seconds;) {
    const auto now = Clock::now();
    pool.run(threads, [&](Index i) {
      float* a = memory[static_cast<std::size_t>(i)].data();
      float *b = a + rows * depth, *c = b + depth * columns;
      for (int r = 0; r < repeats; ++r)
        table.multiply(rows, columns, depth, a, depth, 1, b, columns, c, columns, false);
    });
    max = std::max(max, 2.0 * rows * columns * depth * repeats * threads / seconds_since(now) * 1e-9);
  }
  return max;
}

void check(const std::vector<Index>& channels, const std::string& path, int threads) {
  Work w(channels, 8, threads);
  nlohmann::json j{{"channels", channels}, {"theta", w.theta}, {"pictures", w.pictures},
                   {"labels", w.label},    {"x", w.x},         {"v", w.direction}};
  j["g"] = w.gradient(), j["g_y"] = w.out, j["g_x"] = w.slope_x;
  w.product();
  j["hvp"] = w.out;
  std::ofstream(path) << j;
  std::cout << "done" << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 2;
  std::unique_ptr<Work> work;
  std::vector<Index> channels;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream in(line);
    std::string command;
    in >> command;
    double seconds = 1.0;
    if (command == "case") {
      std::string widths, one;
      int batch = 64;
      in >> widths >> batch;
      channels.clear();
      for (std::istringstream list(widths); std::getline(list, one, ',');) channels.push_back(std::stol(one));
      work = std::make_unique<Work>(channels, batch, threads);
      std::cout << "ready " << work->net.parameters() << ' ' << work->net.shape().operations() * batch << std::endl;
    } else if (command == "gradient" && work) {
      in >> seconds;
      time(seconds, [&] { work->gradient(); });
    } else if (command == "product" && work) {
      in >> seconds;
      work->gradient();
      time(seconds, [&] { work->product(); });
    } else if (command == "peak") {
      in >> seconds;
      std::cout << peak(seconds, threads) << std::endl;
    } else if (command == "check" && work) {
      std::string path;
      in >> path;
      check(channels, path, threads);
    } else if (command == "quit") {
      return 0;
    } else {
      std::cout << "error: got '" << line << "', expected case, gradient, product, peak, check or quit" << std::endl;
    }
  }
}
