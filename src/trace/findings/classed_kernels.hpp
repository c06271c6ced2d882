// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "trace/findings/kernel_class.hpp"
#include "trace/findings/rules.hpp"
#include "trace/findings/tally.hpp"

namespace ridgeline::trace {

/// The kernels of a trace by what they do, in the order in which each stream ran them.
class ClassedKernels {
 public:
  /// `of` must outlive the object.
  explicit ClassedKernels(const Case& of);

  [[nodiscard]] KernelClass class_of(std::size_t kernel) const { return classes_[kernel]; }
  /// Kernels by stream and time.
  [[nodiscard]] const std::vector<std::size_t>& order() const noexcept { return order_; }
  [[nodiscard]] std::string module_of(std::size_t kernel) const;
  /// Of one stream and one step.
  [[nodiscard]] bool same_place(std::size_t one, std::size_t other) const;
  [[nodiscard]] ProcessDevice gpu_of(std::size_t kernel) const;
  [[nodiscard]] std::int32_t device_of(std::size_t kernel) const { return gpu_of(kernel).second; }
  /// What the memory of the kernel's GPU moves at most in a nanosecond; 0: unknown.
  [[nodiscard]] double peak_bytes_per_ns(std::size_t kernel) const;
  /// DRAM, by hardware counters; NaN: unknown.
  [[nodiscard]] double bytes_of(std::size_t kernel) const;
  [[nodiscard]] std::int64_t duration_ns(std::size_t kernel) const;
  /// One case that is a kernel of its own.
  void add(Tally& tally, std::size_t kernel, std::int64_t saving_ns) const;
  /// One kernel of a case.
  void add_row(Tally& tally, std::size_t kernel) const;
  [[nodiscard]] const AnalysedTrace& analysed() const noexcept { return of_.analysed; }

 private:
  const Case& of_;
  std::vector<KernelClass> classes_;
  std::vector<std::size_t> order_;
};

}  // namespace ridgeline::trace
