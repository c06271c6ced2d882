// SPDX-License-Identifier: Apache-2.0
#include "trace/findings/kernel_tallies.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/findings/classed_kernels.hpp"
#include "trace/findings/faster_format.hpp"
#include "trace/findings/kernel_class.hpp"
#include "trace/findings/products.hpp"

namespace ridgeline::trace {
namespace {

constexpr std::size_t kLongestBetween = 4;  // elementwise kernels between the products of an attention and its softmax
constexpr std::int64_t kStartNs = 5'000;    // that a kernel takes however little it does
// NVIDIA's data sheets have a peak of TF32 that is at least seven times that of FP32 on these GPUs; of a higher peak
// products reach a smaller share.
constexpr std::int64_t kTf32Rate = 5;

class KernelWalk {
 public:
  explicit KernelWalk(const Case& of)
      : of_(of),
        kernels_(of),
        products_(of.analysed),
        out_(of.analysed.trace.strings),
        taken_(of.analysed.trace.kernels.size()) {}

  void walk() {
    const auto& order = kernels_.order();
    for (std::size_t at = 0; at < order.size(); ++at) attention_at(at);
    tally_fusable_runs(kernels_, taken_, out_.chains, out_.reduced);
    see_tf32();
    for (const auto kernel : order) {
      if (kernels_.class_of(kernel) == KernelClass::fp32_product) fp32_product(kernel);
      if (is_in_tf32(kernel) && !products_.is_of_vector(kernel))
        kernels_.add(out_.products_in_tf32, kernel, kernels_.duration_ns(kernel) / 2);
      layout_of(kernel);
      few_blocks_of(kernel);
      partial_wave_of(kernel);
    }
  }

  KernelTallies tallies() { return std::move(out_); }

 private:
  [[nodiscard]] std::string_view name_of(std::size_t kernel) const {
    return of_.analysed.trace.strings.text(of_.analysed.trace.kernels.name[kernel]);
  }
  [[nodiscard]] bool is_in_tf32(std::size_t kernel) const {
    return kernels_.class_of(kernel) == KernelClass::product && is_tf32_product(name_of(kernel));
  }

  /// Frameworks allow TF32 for all products or none, and for all convolutions or none: what stays in FP32 then has a
  /// reason.
  void see_tf32() {
    for (const auto kernel : kernels_.order())
      if (is_in_tf32(kernel)) tf32_.emplace(kernels_.device_of(kernel), products_.is_of_convolution(kernel));
  }

  struct Formats {
    FasterFormat faster = FasterFormat::none;
    bool has_fast_tf32 = false;
  };
  [[nodiscard]] const Formats& formats_of(std::int32_t device) {
    const auto [known, is_new] = formats_.try_emplace(device);
    if (is_new) {
      known->second.faster = faster_format(of_.analysed.trace, device);
      known->second.has_fast_tf32 = has_fast_tf32(of_.analysed.trace, device);
    }
    return known->second;
  }

  /// A product with a vector waits for memory, whatever multiplies.
  void fp32_product(std::size_t kernel) {
    const auto device = kernels_.device_of(kernel);
    const auto [format, has_fast_tf32] = formats_of(device);
    if (format == FasterFormat::none || products_.is_of_vector(kernel)) return;
    if (format == FasterFormat::tf32 && tf32_.count({device, products_.is_of_convolution(kernel)}) > 0) return;
    const auto time = kernels_.duration_ns(kernel);
    see_tensor_cores(kernel);
    if (format == FasterFormat::tf32 && has_fast_tf32)
      return kernels_.add(out_.fast_tf32_products, kernel, time - std::max(time / kTf32Rate, memory_ns(kernel)));
    kernels_.add(format == FasterFormat::tf32   ? out_.tf32_products
                 : format == FasterFormat::half ? out_.half_products
                                                : out_.fp16_products,
                 kernel, time / 2);
  }

  void see_tensor_cores(std::size_t kernel) {
    const auto& shares = of_.analysed.kernel_tensor;
    if (shares.empty() || std::isnan(shares[kernel])) return;
    const auto time = static_cast<double>(kernels_.duration_ns(kernel));
    out_.fp32_activity.known_ns += time;
    out_.fp32_activity.active_ns += time * shares[kernel];
  }

  /// What moving the kernel's bytes takes at least, at most its time; 0: unknown.
  [[nodiscard]] std::int64_t memory_ns(std::size_t kernel) const {
    const auto peak = kernels_.peak_bytes_per_ns(kernel);
    const auto bytes = kernels_.bytes_of(kernel);
    if (std::isnan(bytes) || bytes <= 0 || peak <= 0) return 0;
    return std::llround(std::min(bytes / peak, static_cast<double>(kernels_.duration_ns(kernel))));
  }

  void layout_of(std::size_t kernel) {
    const bool of_library = kernels_.class_of(kernel) == KernelClass::layout;
    if (!of_library && (taken_[kernel] || !is_strided_copy(name_of(kernel)))) return;
    auto& into = of_library ? out_.layouts : out_.strided_copies;
    kernels_.add(into, kernel, kernels_.duration_ns(kernel));
    into.add_bytes(kernels_.bytes_of(kernel));
  }

  /// A softmax between the two products of an attention.
  void attention_at(std::size_t at) {
    const auto& order = kernels_.order();
    if (kernels_.class_of(order[at]) != KernelClass::softmax) return;
    std::vector<std::size_t> between{order[at]};
    std::vector<std::size_t> around;  // the products
    const auto reaches_product = [&](int step) {
      for (std::size_t i = 1; i <= kLongestBetween + 1; ++i) {
        const auto place = static_cast<std::ptrdiff_t>(at) + step * static_cast<std::ptrdiff_t>(i);
        if (place < 0 || place >= static_cast<std::ptrdiff_t>(order.size())) return false;
        const auto kernel = order[static_cast<std::size_t>(place)];
        if (!kernels_.same_place(kernel, order[at])) return false;
        const auto kind = kernels_.class_of(kernel);
        if (kind == KernelClass::product || kind == KernelClass::fp32_product) {
          around.push_back(kernel);
          return true;
        }
        if (kind != KernelClass::elementwise) return false;
        between.push_back(kernel);
      }
      return false;
    };
    if (!reaches_product(-1) || !reaches_product(1) || !products_.are_of_attention(around[0], around[1])) return;
    std::int64_t sum = 0;
    for (const auto kernel : between) {
      taken_[kernel] = true;
      sum += kernels_.duration_ns(kernel);
      kernels_.add_row(out_.attention, kernel);
      out_.attention.add_bytes(kernels_.bytes_of(kernel));
    }
    out_.attention.add(kernels_.module_of(order[at]), sum, sum, kernels_.gpu_of(order[at]));
  }

  /// Fewer blocks than multiprocessors: the others have nothing to do.
  void few_blocks_of(std::size_t kernel) {
    const auto& grid = of_.analysed.trace.kernels.grid[kernel];
    // More of them than 64 bits hold in a file that is damaged.
    const auto blocks = static_cast<double>(std::max(1, grid.x)) * std::max(1, grid.y) * std::max(1, grid.z);
    const auto time = kernels_.duration_ns(kernel);
    if (grid.x == 0 || time <= kStartNs || kernels_.class_of(kernel) == KernelClass::collective) return;
    const auto device = kernels_.device_of(kernel);
    for (const auto& one : of_.tables.devices)
      if (one.device == device && one.multiprocessors > blocks) {
        const auto few = static_cast<std::int64_t>(blocks);
        const std::int64_t all = one.multiprocessors;
        // time * few / all, whose product need not fit.
        kernels_.add(out_.few_blocks, kernel, time - time / all * few - time % all * few / all);
        return;
      }
  }

  /// Blocks run in waves of as many as fit on the GPU; what the last wave leaves free is idle until it has ended.
  void partial_wave_of(std::size_t kernel) {
    const auto& known = of_.analysed.kernel_waves;
    if (known.empty() || !(known[kernel] > 1)) return;
    const auto waves = known[kernel];
    const auto idle = (std::ceil(waves) - waves) / std::ceil(waves);
    if (idle > 0)
      kernels_.add(out_.partial_waves, kernel, std::llround(idle * static_cast<double>(kernels_.duration_ns(kernel))));
  }

  const Case& of_;
  ClassedKernels kernels_;
  Products products_;
  KernelTallies out_;
  std::vector<bool> taken_;                       ///< kernels that another finding has
  std::map<std::int32_t, Formats> formats_;       ///< of devices
  std::set<std::pair<std::int32_t, bool>> tf32_;  ///< devices, and whether it is convolutions that they do in TF32
};

}  // namespace

KernelTallies tally_kernels(const Case& of) {
  KernelWalk walk(of);
  walk.walk();
  return walk.tallies();
}

}  // namespace ridgeline::trace
