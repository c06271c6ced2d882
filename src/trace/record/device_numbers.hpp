// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "trace/trace.hpp"

namespace ridgeline::trace {

/// Numbers of GPUs that all processes of a program share. Each process numbers by itself those that
/// CUDA_VISIBLE_DEVICES leaves it, so that several GPUs may be 0.
class DeviceNumbers {
 public:
  /// Renumbers the trace of one process. `uuids`: of its GPUs, by its own numbers; what is not in it keeps its number.
  void apply(const std::map<std::int32_t, std::string>& uuids, Trace& trace);

  /// Of the GPUs seen so far, by UUID.
  [[nodiscard]] const std::map<std::string, std::int32_t>& numbers() const noexcept { return numbers_; }

 private:
  [[nodiscard]] std::int32_t number_of(const std::string& uuid, std::int32_t own);

  std::map<std::string, std::int32_t> numbers_;
  std::set<std::int32_t> taken_;
};

}  // namespace ridgeline::trace
