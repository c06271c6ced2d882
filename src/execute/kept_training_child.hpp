// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "execute/training_child.hpp"

namespace ridgeline::execute {

/// Lends one training process to trial after trial: starting LibTorch and CUDA takes seconds, a trial often less. Any
/// failure ends the process, so that nothing broken is inherited; so does another `repeat`, so that leaders measured
/// again rest on no process that the search has worn. On a CPU every trial has a process of its own, because its memory
/// is the process's. A trial that the lent process forks for is neither worn nor broken by others, and ends alone.
class KeptTrainingChild {
 public:
  /// Which trials the lent process forks for.
  enum class Forks { none, on_cpu, all };
  explicit KeptTrainingChild(JsonChildOptions options, Forks forks = Forks::none);

  /// Runners for one trial after another, each closed before the next is made. They may outlive this object.
  [[nodiscard]] workload::StepRunnerFactory factory() const;
  /// Whether a process waits for the next trial, on the device already.
  [[nodiscard]] bool waits() const noexcept;

 private:
  struct State;
  class Lent;
  std::shared_ptr<State> state_;
};

}  // namespace ridgeline::execute
