#include "kernels/instructions.hpp"

#include <cstdlib>
#include <string_view>

#include "kernels/fit/kernels.hpp"
#include "kernels/network/kernels.hpp"
#include "kernels/softmax/kernels.hpp"

namespace obolus::kernels {

Instructions instructions() {
#ifdef OBOLUS_HAS_X86
  const char* value = std::getenv("OBOLUS_KERNELS");
  const std::string_view limit = value == nullptr ? "" : value;
  if (limit == "portable") return Instructions::portable;
  if (limit != "avx2" && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq"))
    return Instructions::avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return Instructions::avx2;
#endif
  return Instructions::portable;
}

namespace {

template <Instructions set>
struct Constant {
  static constexpr Instructions value = set;
};

// compiled(set as a constant), for the sets there is a compilation for
template <class Compiled>
decltype(auto) choose(Instructions set, Compiled&& compiled) {
#ifdef OBOLUS_HAS_X86
  if (set == Instructions::avx512) return compiled(Constant<Instructions::avx512>{});
  if (set == Instructions::avx2) return compiled(Constant<Instructions::avx2>{});
#endif
  return compiled(Constant<Instructions::portable>{});
}

}  // namespace

namespace fit {
template <class S>
const Kernels<S>& table(Instructions set) {
  return choose(set, [](auto is) -> auto& { return compiled<S, is.value>(); });
}
template const Kernels<float>& table(Instructions);
template const Kernels<double>& table(Instructions);
}  // namespace fit

namespace network {
template <class S>
const Kernels<S>& table(Instructions set) {
  return choose(set, [](auto is) -> auto& { return compiled<S, is.value>(); });
}
template const Kernels<float>& table(Instructions);
template const Kernels<double>& table(Instructions);
}  // namespace network

namespace softmax {
template <class S>
const Kernels<S>& table(Cut cut, Instructions set) {
  return choose(set, [=](auto is) -> auto& { return compiled<S, is.value>(cut); });
}
template const Kernels<float>& table(Cut, Instructions);
template const Kernels<double>& table(Cut, Instructions);
}  // namespace softmax

}  // namespace obolus::kernels
