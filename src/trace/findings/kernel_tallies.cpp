// SPDX-License-Identifier: Apache-2.0
#include "trace/findings/kernel_tallies.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace/findings/faster_format.hpp"
#include "trace/findings/kernel_class.hpp"
#include "trace/findings/products.hpp"

namespace ridgeline::trace {
namespace {

constexpr std::size_t kLeastChain = 2;      // kernels
constexpr std::size_t kLeastLoop = 8;       // launches of one operation in a chain
constexpr std::size_t kLongestBetween = 4;  // elementwise kernels between the products of an attention and its softmax

class KernelWalk {
 public:
  explicit KernelWalk(const Case& of)
      : of_(of), kernels_(of.analysed.trace.kernels), products_(of.analysed), out_(of.analysed.trace.strings) {
    std::unordered_map<NameId, KernelClass> known;
    for (std::size_t i = 0; i < kernels_.size(); ++i) {
      const auto [found, is_new] = known.try_emplace(kernels_.name[i], KernelClass::other);
      if (is_new) found->second = kernel_class(of.analysed.trace.strings.text(kernels_.name[i]));
      classes_.push_back(of.analysed.is_collective[i] ? KernelClass::collective : found->second);
    }
    order_.resize(kernels_.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::stable_sort(order_.begin(), order_.end(), [&](auto a, auto b) {
      return std::tie(kernels_.lane[a], kernels_.start_ns[a]) < std::tie(kernels_.lane[b], kernels_.start_ns[b]);
    });
  }

  void walk() {
    for (std::size_t at = 0; at < order_.size();) at = std::max(at + 1, chain_from(at));
    for (std::size_t at = 0; at < order_.size(); ++at) attention_at(at);
    see_tf32();
    for (const auto kernel : order_) {
      const auto time = kernels_.duration_ns[kernel];
      if (classes_[kernel] == KernelClass::fp32_product) fp32_product(kernel);
      if (classes_[kernel] == KernelClass::layout) {
        add(out_.layouts, kernel, time);
        out_.layouts.add_bytes(bytes_of(kernel));
      }
      few_blocks_of(kernel);
      partial_wave_of(kernel);
    }
  }

  KernelTallies tallies() { return std::move(out_); }

 private:
  [[nodiscard]] std::string module_of(std::size_t kernel) const {
    return module_of_work(of_.analysed, of_.analysed.kernels.row[kernel]);
  }
  [[nodiscard]] bool same_place(std::size_t a, std::size_t b) const {
    return kernels_.lane[a] == kernels_.lane[b] && of_.analysed.kernels.step[a] == of_.analysed.kernels.step[b];
  }

  /// DRAM, by hardware counters; NaN: unknown.
  [[nodiscard]] double bytes_of(std::size_t kernel) const {
    const auto& known = of_.analysed.kernel_bytes;
    return known.empty() ? std::nan("") : known[kernel];
  }
  void add(Tally& tally, std::size_t kernel, std::int64_t saving) const {
    tally.add(module_of(kernel), saving, kernels_.duration_ns[kernel]);
    tally.add_row(kernels_.name[kernel], kernels_.duration_ns[kernel]);
  }

  /// Launches of one operation in a chain.
  struct Repeated {
    std::size_t count = 0;
    std::int64_t ns = 0;
    double bytes = 0;
  };
  /// What launched a kernel, or else its name.
  [[nodiscard]] std::pair<bool, std::uint32_t> operation_of(std::size_t kernel) const {
    const auto row = of_.analysed.kernels.row[kernel];
    const auto& rows = of_.analysed.attribution.rows;
    const bool is_known = row != kNowhere && rows[row].kind == schema::ModuleKind::operation;
    return is_known ? std::pair(true, row) : std::pair(false, kernels_.name[kernel]);
  }

  /// Kernels one after the other that do little with each element: one kernel in their place reads and writes once. An
  /// operation that is launched again and again is that of a loop over tensors, such as parameters: fused, each of them
  /// is read and written still.
  std::size_t chain_from(std::size_t at) {
    if (classes_[order_[at]] != KernelClass::elementwise) return at + 1;
    const auto module = module_of(order_[at]);
    auto end = at;
    std::int64_t sum = 0;
    std::int64_t longest = 0;
    double bytes = 0;
    double most_bytes = 0;
    std::map<std::pair<bool, std::uint32_t>, Repeated> operations;
    while (end < order_.size() && classes_[order_[end]] == KernelClass::elementwise &&
           same_place(order_[at], order_[end]) && module_of(order_[end]) == module) {
      const auto kernel = order_[end++];
      sum += kernels_.duration_ns[kernel];
      longest = std::max(longest, kernels_.duration_ns[kernel]);
      auto& operation = operations[operation_of(kernel)];
      ++operation.count;
      operation.ns += kernels_.duration_ns[kernel];
      if (const auto known = bytes_of(kernel); !std::isnan(known)) {
        bytes += known;
        operation.bytes += known;
        most_bytes = std::max(most_bytes, known);
      }
    }
    for (const auto& [which, operation] : operations) {
      if (operation.count < kLeastLoop) continue;
      longest = std::max(longest, operation.ns);
      most_bytes = std::max(most_bytes, operation.bytes);
    }
    if (end - at >= kLeastChain && sum > longest && module.find("Optimizer.") == std::string::npos) {
      out_.chains.add(module, sum - longest, sum);
      out_.chains.add_bytes(bytes - most_bytes);
      for (auto i = at; i < end; ++i) out_.chains.add_row(kernels_.name[order_[i]], kernels_.duration_ns[order_[i]]);
    }
    return end;
  }

  [[nodiscard]] std::int32_t device_of(std::size_t kernel) const {
    return of_.analysed.trace.gpu_lanes[kernels_.lane[kernel]].device;
  }

  /// Frameworks allow TF32 for all products or none, and for all convolutions or none: what stays in FP32 then has a
  /// reason.
  void see_tf32() {
    for (std::size_t i = 0; i < kernels_.size(); ++i)
      if (classes_[i] == KernelClass::product && is_tf32_product(of_.analysed.trace.strings.text(kernels_.name[i])))
        tf32_.emplace(device_of(i), products_.is_of_convolution(i));
  }

  /// A product with a vector waits for memory, whatever multiplies.
  void fp32_product(std::size_t kernel) {
    const auto device = device_of(kernel);
    const auto [known, is_new] = formats_.try_emplace(device, FasterFormat::none);
    if (is_new) known->second = faster_format(of_.analysed.trace, device);
    const auto format = known->second;
    if (format == FasterFormat::none || products_.is_of_vector(kernel)) return;
    if (format == FasterFormat::tf32 && tf32_.count({device, products_.is_of_convolution(kernel)}) > 0) return;
    add(format == FasterFormat::tf32   ? out_.tf32_products
        : format == FasterFormat::half ? out_.half_products
                                       : out_.fp16_products,
        kernel, kernels_.duration_ns[kernel] / 2);
  }

  /// A softmax between the two products of an attention.
  void attention_at(std::size_t at) {
    if (classes_[order_[at]] != KernelClass::softmax) return;
    std::vector<std::size_t> between{order_[at]};
    std::vector<std::size_t> around;  // the products
    const auto reaches_product = [&](int step) {
      for (std::size_t i = 1; i <= kLongestBetween + 1; ++i) {
        const auto place = static_cast<std::ptrdiff_t>(at) + step * static_cast<std::ptrdiff_t>(i);
        if (place < 0 || place >= static_cast<std::ptrdiff_t>(order_.size())) return false;
        const auto kernel = order_[static_cast<std::size_t>(place)];
        if (!same_place(kernel, order_[at])) return false;
        if (classes_[kernel] == KernelClass::product || classes_[kernel] == KernelClass::fp32_product) {
          around.push_back(kernel);
          return true;
        }
        if (classes_[kernel] != KernelClass::elementwise) return false;
        between.push_back(kernel);
      }
      return false;
    };
    if (!reaches_product(-1) || !reaches_product(1) || !products_.are_of_attention(around[0], around[1])) return;
    std::int64_t sum = 0;
    for (const auto kernel : between) {
      sum += kernels_.duration_ns[kernel];
      out_.attention.add_row(kernels_.name[kernel], kernels_.duration_ns[kernel]);
      out_.attention.add_bytes(bytes_of(kernel));
    }
    out_.attention.add(module_of(order_[at]), sum, sum);
  }

  /// Fewer blocks than multiprocessors: the others have nothing to do.
  void few_blocks_of(std::size_t kernel) {
    const auto& grid = kernels_.grid[kernel];
    // More of them than 64 bits hold in a file that is damaged.
    const auto blocks = static_cast<double>(std::max(1, grid.x)) * std::max(1, grid.y) * std::max(1, grid.z);
    if (grid.x == 0 || classes_[kernel] == KernelClass::collective) return;
    const auto device = device_of(kernel);
    for (const auto& one : of_.tables.devices)
      if (one.device == device && one.multiprocessors > blocks) {
        const auto time = kernels_.duration_ns[kernel];
        const auto few = static_cast<std::int64_t>(blocks);
        const std::int64_t all = one.multiprocessors;
        // time * few / all, whose product need not fit.
        add(out_.few_blocks, kernel, time - time / all * few - time % all * few / all);
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
      add(out_.partial_waves, kernel, std::llround(idle * static_cast<double>(kernels_.duration_ns[kernel])));
  }

  const Case& of_;
  const Kernels& kernels_;
  Products products_;
  KernelTallies out_;
  std::map<std::int32_t, FasterFormat> formats_;  ///< of devices
  std::set<std::pair<std::int32_t, bool>> tf32_;  ///< devices, and whether it is convolutions that they do in TF32
  std::vector<KernelClass> classes_;
  std::vector<std::size_t> order_;  ///< by lane and time
};

}  // namespace

KernelTallies tally_kernels(const Case& of) {
  KernelWalk walk(of);
  walk.walk();
  return walk.tallies();
}

}  // namespace ridgeline::trace
