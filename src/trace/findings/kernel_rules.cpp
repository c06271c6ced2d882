// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>

#include "base/text.hpp"
#include "trace/analysis/places.hpp"
#include "trace/findings/kernel_class.hpp"
#include "trace/findings/rules.hpp"

namespace ridgeline::trace {
namespace {

constexpr std::size_t kLeastChain = 2;      // kernels
constexpr std::size_t kLongestBetween = 4;  // elementwise kernels between the products of an attention and its softmax
constexpr double kLeastTail = 0.03;         // of the time

std::string duration_text(std::int64_t ns) { return base::format_duration(static_cast<double>(ns)); }

/// What is found of one kind, by module.
struct Tally {
  std::int64_t saving_ns = 0;
  std::int64_t time_ns = 0;
  std::int64_t count = 0;
  double bytes = 0;  ///< that need not move, where they were measured
  Places modules;

  void add(const std::string& module, std::int64_t saving, std::int64_t time) {
    saving_ns += saving;
    time_ns += time;
    ++count;
    modules.add(module, saving);
  }
  /// The module with most, and up to three as evidence.
  void tell(schema::ProfileFinding& finding) const {
    const auto longest = modules.longest(3);
    finding.module = longest.front().first;
    for (const auto& [module, ns] : longest)
      finding.evidence.push_back(fmt::format("{} in {}", duration_text(ns), module.empty() ? "no module" : module));
    finding.saving_ns = saving_ns;
  }
};

class KernelWalk {
 public:
  explicit KernelWalk(const Case& of) : of_(of), kernels_(of.analysed.trace.kernels) {
    std::unordered_map<NameId, KernelClass> known;
    for (std::size_t i = 0; i < kernels_.size(); ++i) {
      const auto [found, is_new] = known.try_emplace(kernels_.name[i], KernelClass::other);
      if (is_new) found->second = kernel_class(of.analysed.trace.strings.text(kernels_.name[i]));
      classes_.push_back(found->second);
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
    for (const auto kernel : order_) {
      if (classes_[kernel] == KernelClass::fp32_product)
        products_.add(module_of(kernel), kernels_.duration_ns[kernel] / 2, kernels_.duration_ns[kernel]);
      if (classes_[kernel] == KernelClass::layout)
        layouts_.add(module_of(kernel), kernels_.duration_ns[kernel], kernels_.duration_ns[kernel]);
      tail_of(kernel);
    }
  }

  void tell() const {
    tell_chains();
    tell_attention();
    tell_products();
    tell_layouts();
    tell_tails();
  }

 private:
  /// The module of the operation that launched it; "" where none.
  [[nodiscard]] std::string module_of(std::size_t kernel) const {
    auto row = of_.analysed.kernels.row[kernel];
    const auto& attribution = of_.analysed.attribution;
    if (row == kNowhere || row == attribution.unattributed) return {};
    if (attribution.rows[row].kind == schema::ModuleKind::operation && attribution.rows[row].parent != kNowhere &&
        attribution.rows[row].parent != 0)
      row = attribution.rows[row].parent;
    return path_of(attribution, row);
  }
  [[nodiscard]] bool same_place(std::size_t a, std::size_t b) const {
    return kernels_.lane[a] == kernels_.lane[b] && of_.analysed.kernels.step[a] == of_.analysed.kernels.step[b];
  }

  /// Kernels one after the other that do little with each element: one kernel in their place reads and writes once.
  std::size_t chain_from(std::size_t at) {
    if (classes_[order_[at]] != KernelClass::elementwise) return at + 1;
    const auto module = module_of(order_[at]);
    auto end = at;
    std::int64_t sum = 0;
    std::int64_t longest = 0;
    double bytes = 0;
    double most_bytes = 0;
    while (end < order_.size() && classes_[order_[end]] == KernelClass::elementwise &&
           same_place(order_[at], order_[end]) && module_of(order_[end]) == module) {
      const auto kernel = order_[end++];
      sum += kernels_.duration_ns[kernel];
      longest = std::max(longest, kernels_.duration_ns[kernel]);
      if (const auto& known = of_.analysed.kernel_bytes; !known.empty() && !std::isnan(known[kernel])) {
        bytes += known[kernel];
        most_bytes = std::max(most_bytes, known[kernel]);
      }
    }
    if (end - at >= kLeastChain && module.find("Optimizer.") == std::string::npos) {
      chains_.add(module, sum - longest, sum);
      chains_.bytes += bytes - most_bytes;
    }
    return end;
  }

  /// A product, a softmax behind it and a product behind that.
  void attention_at(std::size_t at) {
    if (classes_[order_[at]] != KernelClass::softmax) return;
    std::int64_t between = kernels_.duration_ns[order_[at]];
    const auto reaches_product = [&](int step) {
      for (std::size_t i = 1; i <= kLongestBetween + 1; ++i) {
        const auto place = static_cast<std::ptrdiff_t>(at) + step * static_cast<std::ptrdiff_t>(i);
        if (place < 0 || place >= static_cast<std::ptrdiff_t>(order_.size())) return false;
        const auto kernel = order_[static_cast<std::size_t>(place)];
        if (!same_place(kernel, order_[at])) return false;
        if (classes_[kernel] == KernelClass::product || classes_[kernel] == KernelClass::fp32_product) return true;
        if (classes_[kernel] != KernelClass::elementwise) return false;
        between += kernels_.duration_ns[kernel];
      }
      return false;
    };
    if (reaches_product(-1) && reaches_product(1)) attention_.add(module_of(order_[at]), between, between);
  }

  /// Fewer blocks than multiprocessors: the others have nothing to do.
  void tail_of(std::size_t kernel) {
    const auto& grid = kernels_.grid[kernel];
    // More of them than 64 bits hold in a file that is damaged.
    const auto blocks = static_cast<double>(std::max(1, grid.x)) * std::max(1, grid.y) * std::max(1, grid.z);
    if (grid.x == 0 || classes_[kernel] == KernelClass::collective) return;
    const auto device = of_.analysed.trace.gpu_lanes[kernels_.lane[kernel]].device;
    for (const auto& one : of_.tables.devices)
      if (one.device == device && one.multiprocessors > blocks) {
        const auto time = kernels_.duration_ns[kernel];
        const auto few = static_cast<std::int64_t>(blocks);
        const std::int64_t all = one.multiprocessors;
        // time * few / all, whose product need not fit.
        tails_.add(module_of(kernel), time - time / all * few - time % all * few / all, time);
        return;
      }
  }

  void tell_chains() const {
    if (chains_.count == 0) return;
    schema::ProfileFinding finding;
    finding.rule = "elementwise-chain";
    chains_.tell(finding);
    finding.title = fmt::format("{} chains of elementwise kernels take {}; fused, about {}", chains_.count,
                                duration_text(chains_.time_ns), duration_text(chains_.time_ns - chains_.saving_ns));
    if (chains_.bytes > 0)
      finding.evidence.push_back(
          fmt::format("{} of intermediate results, measured", base::format_bytes(chains_.bytes)));
    finding.computed = "the chains' time, less that of each one's longest kernel, which a fused kernel takes about";
    finding.advice = "Fuse them: torch.compile writes one kernel for such a chain.";
    finding.code = "model = torch.compile(model)";
    of_.add(std::move(finding));
  }

  void tell_attention() const {
    if (attention_.count == 0) return;
    schema::ProfileFinding finding;
    finding.rule = "unfused-attention";
    attention_.tell(finding);
    finding.title = fmt::format("{} unfused attentions spend {} between their two GEMMs", attention_.count,
                                duration_text(attention_.time_ns));
    finding.computed =
        "softmax and elementwise kernels between the two GEMMs: a fused attention never writes that matrix";
    finding.advice = "Use the fused attention.";
    finding.code =
        "torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)\n"
        "# transformers: AutoModel.from_pretrained(..., attn_implementation=\"sdpa\")";
    of_.add(std::move(finding));
  }

  void tell_products() const {
    if (products_.count == 0) return;
    schema::ProfileFinding finding;
    finding.rule = "fp32-gemm";
    products_.tell(finding);
    finding.title = fmt::format("{} GEMMs and convolutions run in FP32 without tensor cores: {}", products_.count,
                                duration_text(products_.time_ns));
    if (has_tf32()) {
      finding.computed = "half of their time: what TF32 saves at least where its peak is twice that of FP32 or more";
      finding.advice = "Allow TF32, or run in half precision; the outputs change by rounding, so check them.";
      finding.code =
          "torch.set_float32_matmul_precision(\"high\")\n"
          "torch.backends.cudnn.allow_tf32 = True\n"
          "with torch.autocast(\"cuda\", dtype=torch.bfloat16): ...";
    } else {
      finding.computed = "half of their time: what FP16 saves at least, which has half the bytes";
      finding.advice = "Run in FP16, as this GPU has no TF32; the outputs change by rounding, so check them.";
      finding.code = "with torch.autocast(\"cuda\", dtype=torch.float16): ...";
    }
    of_.add(std::move(finding));
  }

  /// From compute capability 8.0 on; where the trace does not tell, it is taken for granted.
  [[nodiscard]] bool has_tf32() const {
    const auto& devices = of_.analysed.trace.devices;
    return std::none_of(devices.begin(), devices.end(), [](const auto& device) {
      return !device.compute_capability.empty() && device.compute_capability.find('.') == 1 &&
             device.compute_capability[0] < '8';
    });
  }

  void tell_layouts() const {
    if (layouts_.count == 0) return;
    schema::ProfileFinding finding;
    finding.rule = "layout";
    layouts_.tell(finding);
    finding.title = fmt::format("{} kernels only change the layout of tensors: {}", layouts_.count,
                                duration_text(layouts_.time_ns));
    finding.computed = "their time";
    finding.advice = "Keep tensors in the layout that convolutions want.";
    finding.code =
        "model = model.to(memory_format=torch.channels_last)\nx = x.to(memory_format=torch.channels_last)\n"
        "# ONNX Runtime, CUDA provider: {\"prefer_nhwc\": \"1\"}";
    of_.add(std::move(finding));
  }

  void tell_tails() const {
    if (tails_.count == 0) return;
    schema::ProfileFinding finding;
    finding.rule = "few-blocks";
    tails_.tell(finding);
    finding.title = fmt::format("{} launches have fewer blocks than the GPU has multiprocessors: {}", tails_.count,
                                duration_text(tails_.time_ns));
    finding.computed = "at most: their time, times the share of multiprocessors without a block";
    finding.advice = "Give the GPU more at once: a larger batch, or independent work on another stream.";
    of_.add(std::move(finding), kLeastTail);
  }

  const Case& of_;
  const Kernels& kernels_;
  std::vector<KernelClass> classes_;
  std::vector<std::size_t> order_;  ///< by lane and time
  Tally chains_;
  Tally attention_;
  Tally products_;
  Tally layouts_;
  Tally tails_;
};

}  // namespace

void kernel_rules(const Case& of) {
  KernelWalk walk(of);
  walk.walk();
  walk.tell();
}

}  // namespace ridgeline::trace
