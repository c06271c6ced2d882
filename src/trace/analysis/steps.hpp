// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/analysis/nesting.hpp"
#include "trace/trace.hpp"

namespace ridgeline::trace {

/// An iteration of a training, a request, a Run() call: a range of one thread.
struct Step {
  Place range = kNowhere;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;  ///< not beyond the start of its thread's next
};

struct Steps {
  std::string name;         ///< of all, without their numbers: "ProfilerStep", "iteration", "Qwen2Model_0"; "": none
  std::vector<Step> steps;  ///< in order of time; those of several threads may overlap
  bool numbered = false;    ///< their ranges say which step it is, and nothing about where in the program it is

  /// Into steps: the last that has begun at that moment and not ended; kNowhere: none.
  [[nodiscard]] Place at(std::int64_t time_ns) const;
  /// Whether the range, which begins then, only numbers a step.
  [[nodiscard]] bool is_number(Place range, std::int64_t start_ns) const {
    const auto step = numbered ? at(start_ns) : kNowhere;
    return step != kNowhere && steps[step].range == range;
  }
};

/// Of one thread: the profiler's own steps; outermost annotations that differ by their number only; Run() calls of ONNX
/// Runtime, which are those of all threads; or, in a trace without a backward pass, calls of the outermost module. At
/// least three, but for those of the profiler itself.
[[nodiscard]] Steps find_steps(const Trace& trace, const Nesting& nesting);

/// The step of each of Trace::nodes, into Steps::steps: of its own thread where that runs one at the time; else of
/// another, which lets threads of its own run the nodes, the last that has begun. kNowhere: none.
[[nodiscard]] std::vector<Place> steps_of_nodes(const Trace& trace, const Steps& steps);

}  // namespace ridgeline::trace
