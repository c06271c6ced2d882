// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace ridgeline::host {

/// Since it was made: the CPU time of the thread that asks and of the process's other threads, and the time that this
/// thread stood in line for a CPU (0 where the kernel does not count it): on a busy machine it would hide a wait.
class StepWork {
 public:
  struct Seconds {
    double thread = 0;
    double others = 0;
    double in_line = 0;
  };
  StepWork() noexcept : begin_(now()) {}
  [[nodiscard]] Seconds since() const noexcept;

 private:
  struct Clocks {
    double thread_cpu = 0;
    double thread_waited = 0;
    double process_cpu = 0;
  };
  [[nodiscard]] static Clocks now() noexcept;
  Clocks begin_;
};

}  // namespace ridgeline::host
