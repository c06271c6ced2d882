// SPDX-License-Identifier: Apache-2.0
#include "trace/findings/classed_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <unordered_map>

namespace ridgeline::trace {

ClassedKernels::ClassedKernels(const Case& of) : of_(of) {
  const auto& kernels = of.analysed.trace.kernels;
  std::unordered_map<NameId, KernelClass> known;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const auto [found, is_new] = known.try_emplace(kernels.name[i], KernelClass::other);
    if (is_new) found->second = kernel_class(of.analysed.trace.strings.text(kernels.name[i]));
    classes_.push_back(of.analysed.is_collective[i] ? KernelClass::collective : found->second);
  }
  order_.resize(kernels.size());
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::stable_sort(order_.begin(), order_.end(), [&](auto a, auto b) {
    return std::tie(kernels.lane[a], kernels.start_ns[a]) < std::tie(kernels.lane[b], kernels.start_ns[b]);
  });
}

std::string ClassedKernels::module_of(std::size_t kernel) const {
  return module_of_work(of_.analysed, of_.analysed.kernels.row[kernel]);
}

bool ClassedKernels::same_place(std::size_t one, std::size_t other) const {
  const auto& lane = of_.analysed.trace.kernels.lane;
  return lane[one] == lane[other] && of_.analysed.kernels.step[one] == of_.analysed.kernels.step[other];
}

ProcessDevice ClassedKernels::gpu_of(std::size_t kernel) const {
  const auto& lane = of_.analysed.trace.gpu_lanes[of_.analysed.trace.kernels.lane[kernel]];
  return {lane.process, lane.device};
}

double ClassedKernels::peak_bytes_per_ns(std::size_t kernel) const {
  const auto device = device_of(kernel);
  for (const auto& one : of_.tables.devices)
    if (one.device == device) return static_cast<double>(one.memory_bytes_per_s) / 1e9;
  return 0;
}

double ClassedKernels::bytes_of(std::size_t kernel) const {
  const auto& known = of_.analysed.kernel_bytes;
  return known.empty() ? std::nan("") : known[kernel];
}

std::int64_t ClassedKernels::duration_ns(std::size_t kernel) const {
  return of_.analysed.trace.kernels.duration_ns[kernel];
}

void ClassedKernels::add(Tally& tally, std::size_t kernel, std::int64_t saving_ns) const {
  tally.add(module_of(kernel), saving_ns, duration_ns(kernel), gpu_of(kernel));
  add_row(tally, kernel);
}

void ClassedKernels::add_row(Tally& tally, std::size_t kernel) const {
  tally.add_row(of_.analysed.trace.kernels.name[kernel], duration_ns(kernel));
  tally.add_line(of_.analysed.lines.of_kernel(kernel, of_.analysed.kernels.call[kernel]));
}

}  // namespace ridgeline::trace
