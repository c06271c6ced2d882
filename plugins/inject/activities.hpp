// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "activity_buffers.hpp"
#include "cupti_library.hpp"

namespace ridgeline::inject {

/// What CUPTI records of this process's GPU work, switched on and off.
class Activities {
 public:
  /// Opens CUPTI and says where records go. Whether it can record; why() says why not.
  [[nodiscard]] bool start(ActivityBuffers& buffers);
  void switch_on();
  void switch_off();
  /// Asks for what is complete; `all`: for everything, as the process ends.
  void flush(bool all);
  [[nodiscard]] std::uint64_t dropped() const noexcept;

  [[nodiscard]] const CuptiLibrary& cupti() const noexcept { return cupti_; }
  [[nodiscard]] bool started() const noexcept { return started_; }
  [[nodiscard]] const std::string& why() const noexcept { return why_; }

 private:
  [[nodiscard]] bool check(CUptiResult result, const char* doing);
  void choose_calls(bool on);

  CuptiLibrary cupti_;
  bool started_ = false;
  bool on_ = false;
  std::string why_;
};

}  // namespace ridgeline::inject
