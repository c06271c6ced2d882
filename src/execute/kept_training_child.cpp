// SPDX-License-Identifier: Apache-2.0
#include "execute/kept_training_child.hpp"

#include <utility>

namespace ridgeline::execute {

struct KeptTrainingChild::State {
  State(JsonChildOptions given, OnCpu how) : options(std::move(given)), on_cpu(how) {}
  ~State() { end(); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  void end() noexcept {
    if (child) child->close();
    child.reset();
    waits = false;
  }

  const JsonChildOptions options;
  const OnCpu on_cpu;
  std::unique_ptr<TrainingChild> child;  ///< waiting, or lent
  int repeat = 0;                        ///< of the trials that it serves
  bool waits = false;                    ///< it has served one
};

/// The process for one trial.
class KeptTrainingChild::Lent final : public workload::StepRunner {
 public:
  Lent(std::shared_ptr<State> state, bool may_stay) : state_(std::move(state)), may_stay_(may_stay) {}
  ~Lent() override { close(); }
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;

  workload::StepResult<void> prepare(const schema::TrainingTrialSpec& spec) override {
    return watched(state_->child->prepare(spec));
  }
  workload::StepResult<workload::StepWindow> run(std::int64_t steps) override {
    return watched(state_->child->run(steps));
  }
  workload::StepResult<void> reset_peaks() override { return watched(state_->child->reset_peaks()); }
  workload::StepResult<schema::TrainingResources> resources() override { return watched(state_->child->resources()); }
  void close() noexcept override {
    if (std::exchange(closed_, true)) return;
    state_->waits = may_stay_ && state_->child->renew();
    if (!state_->waits) state_->end();
  }

 private:
  template <typename Result>
  Result watched(Result result) {
    may_stay_ = may_stay_ && result.has_value();
    return result;
  }

  std::shared_ptr<State> state_;
  bool may_stay_;
  bool closed_ = false;
};

KeptTrainingChild::KeptTrainingChild(JsonChildOptions options, OnCpu on_cpu)
    : state_(std::make_shared<State>(std::move(options), on_cpu)) {}

workload::StepRunnerFactory KeptTrainingChild::factory() const {
  return
      [state = state_](const schema::TrainingTrialSpec& spec) -> base::Result<std::unique_ptr<workload::StepRunner>> {
        if (state->repeat != spec.repeat) state->end();
        state->repeat = spec.repeat;
        if (!state->child) state->child = std::make_unique<TrainingChild>(state->options);
        const bool may_stay = state->on_cpu == OnCpu::forks_each_trial || !schema::is_cpu_device(spec.device);
        return std::make_unique<Lent>(state, may_stay);
      };
}

bool KeptTrainingChild::waits() const noexcept { return state_->waits; }

}  // namespace ridgeline::execute
