// SPDX-License-Identifier: Apache-2.0
#include "trace/findings/fusable_runs.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

namespace ridgeline::trace {
namespace {

constexpr std::size_t kLeastRun = 2;   // kernels
constexpr std::size_t kLeastLoop = 8;  // launches of one operation in a run
constexpr double kFullPass = 0.4;      // of the run's largest kernel: one that passes over all of the data
constexpr double kMemoryBound = 0.3;   // of the memory's peak: where bytes decide how long a kernel takes

bool is_fusable(KernelClass kind) {
  return kind == KernelClass::elementwise || kind == KernelClass::reduction || kind == KernelClass::softmax;
}

/// What kernels of a run take, in nanoseconds or in bytes.
class Amounts {
 public:
  void add(const std::pair<bool, std::uint32_t>& operation, double amount, bool elementwise) {
    sum_ += amount;
    largest_ = std::max(largest_, amount);
    if (elementwise) elementwise_.push_back(amount);
    auto& [count, in_all] = operations_[operation];
    ++count;
    in_all += amount;
  }
  [[nodiscard]] double sum() const noexcept { return sum_; }
  [[nodiscard]] double largest() const noexcept { return largest_; }

  /// What one kernel in their place takes. Of elementwise kernels the largest: it may read several inputs. With
  /// reductions the smallest that passes over all of the data: the others do so in a wider format, or to read again
  /// what is known. An operation that is launched again and again is that of a loop over tensors, such as parameters:
  /// fused, each of them is read and written still.
  [[nodiscard]] double fused(bool has_reduction) const {
    auto out = largest_;
    if (has_reduction)
      for (const auto amount : elementwise_)
        if (amount >= kFullPass * largest_) out = std::min(out, amount);
    for (const auto& [operation, launches] : operations_)
      if (launches.first >= kLeastLoop) out = std::max(out, launches.second);
    return out;
  }

 private:
  double sum_ = 0;
  double largest_ = 0;
  std::vector<double> elementwise_;
  std::map<std::pair<bool, std::uint32_t>, std::pair<std::size_t, double>> operations_;  ///< launches, and their sum
};

class RunFinder {
 public:
  RunFinder(const ClassedKernels& kernels, std::vector<bool>& taken, FusableRuns& chains, FusableRuns& with_reductions)
      : kernels_(kernels), taken_(taken), chains_(chains), with_reductions_(with_reductions) {}

  void find() {
    for (std::size_t at = 0; at < kernels_.order().size();) at = std::max(at + 1, run_from(at));
  }

 private:
  [[nodiscard]] bool is_part(std::size_t kernel) const {
    return is_fusable(kernels_.class_of(kernel)) && !taken_[kernel];
  }

  /// What launched a kernel, or else its name.
  [[nodiscard]] std::pair<bool, std::uint32_t> operation_of(std::size_t kernel) const {
    const auto& analysed = kernels_.analysed();
    const auto row = analysed.kernels.row[kernel];
    const auto& rows = analysed.attribution.rows;
    const bool is_known = row != kNowhere && rows[row].kind == schema::ModuleKind::operation;
    return is_known ? std::pair(true, row) : std::pair(false, analysed.trace.kernels.name[kernel]);
  }

  std::size_t run_from(std::size_t at) {
    const auto& order = kernels_.order();
    if (!is_part(order[at])) return at + 1;
    const auto module = kernels_.module_of(order[at]);
    auto end = at;
    bool has_reduction = false;
    Amounts times;
    Amounts bytes;  // of those that are known
    bool knows_bytes = true;
    while (end < order.size() && is_part(order[end]) && kernels_.same_place(order[at], order[end]) &&
           kernels_.module_of(order[end]) == module) {
      const auto kernel = order[end++];
      const bool elementwise = kernels_.class_of(kernel) == KernelClass::elementwise;
      has_reduction = has_reduction || !elementwise;
      times.add(operation_of(kernel), static_cast<double>(kernels_.duration_ns(kernel)), elementwise);
      const auto known = kernels_.bytes_of(kernel);
      if (std::isnan(known))
        knows_bytes = false;
      else
        bytes.add(operation_of(kernel), known, elementwise);
    }
    const auto saving = times.sum() - times.fused(has_reduction);
    if (end - at < kLeastRun || saving <= 0 || module.find("Optimizer.") != std::string::npos) return end;
    add(at, end, module, has_reduction ? with_reductions_ : chains_, saving,
        {times.sum(), bytes.sum(), bytes.fused(has_reduction)}, knows_bytes);
    return end;
  }

  struct Measured {
    double ns = 0;
    double bytes = 0;
    double fused_bytes = 0;
  };

  /// Whether the kernels of a run take as long as their bytes need, rather than what each takes to start.
  [[nodiscard]] bool waits_for_memory(std::size_t kernel, const Measured& run) const {
    return run.bytes > 0 && run.ns > 0 && run.bytes / run.ns >= kMemoryBound * kernels_.peak_bytes_per_ns(kernel);
  }

  void add(std::size_t begin, std::size_t end, const std::string& module, FusableRuns& into, double saving,
           const Measured& run, bool knows_bytes) const {
    const auto& order = kernels_.order();
    const auto ns = std::llround(run.ns);
    auto saving_ns = std::llround(saving);
    if (knows_bytes && waits_for_memory(order[begin], run)) {
      saving_ns = std::llround(run.ns * (1 - run.fused_bytes / run.bytes));
      into.measured_ns += ns;
      into.measured_saving_ns += saving_ns;
      into.measured_bytes += run.bytes;
    }
    into.tally.add(module, saving_ns, ns, kernels_.gpu_of(order[begin]));
    into.tally.add_bytes(run.bytes - run.fused_bytes);
    for (auto i = begin; i < end; ++i) {
      taken_[order[i]] = true;
      kernels_.add_row(into.tally, order[i]);
    }
  }

  const ClassedKernels& kernels_;
  std::vector<bool>& taken_;
  FusableRuns& chains_;
  FusableRuns& with_reductions_;
};

}  // namespace

void tally_fusable_runs(const ClassedKernels& kernels, std::vector<bool>& taken, FusableRuns& chains,
                        FusableRuns& with_reductions) {
  RunFinder(kernels, taken, chains, with_reductions).find();
}

}  // namespace ridgeline::trace
