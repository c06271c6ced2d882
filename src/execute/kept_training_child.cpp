// SPDX-License-Identifier: Apache-2.0
#include "execute/kept_training_child.hpp"

#include <utility>

namespace ridgeline::execute {

struct KeptTrainingChild::State {
  State(JsonChildOptions given, Forks which) : options(std::move(given)), forks(which) {}
  ~State() { end(); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  [[nodiscard]] bool forks_for(const schema::TrainingTrialSpec& spec) const {
    return forks == Forks::all || (forks == Forks::on_cpu && schema::is_cpu_device(spec.device));
  }
  void end() noexcept {
    if (child) child->close();
    child.reset();
    waits = false;
  }

  const JsonChildOptions options;
  const Forks forks;
  std::unique_ptr<TrainingChild> child;  ///< waiting, or lent
  int repeat = 0;                        ///< of the trials that it serves
  bool waits = false;                    ///< it has served one
};

/// The process for one trial.
class KeptTrainingChild::Lent final : public workload::StepRunner {
 public:
  Lent(std::shared_ptr<State> state, const schema::TrainingTrialSpec& spec)
      : state_(std::move(state)),
        in_fork_(state_->forks_for(spec)),
        may_stay_(in_fork_ || !schema::is_cpu_device(spec.device)) {}
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
    may_stay_ = may_stay_ && (in_fork_ || result.has_value());
    return result;
  }

  std::shared_ptr<State> state_;
  const bool in_fork_;
  bool may_stay_;
  bool closed_ = false;
};

KeptTrainingChild::KeptTrainingChild(JsonChildOptions options, Forks forks)
    : state_(std::make_shared<State>(std::move(options), forks)) {}

workload::StepRunnerFactory KeptTrainingChild::factory() const {
  return
      [state = state_](const schema::TrainingTrialSpec& spec) -> base::Result<std::unique_ptr<workload::StepRunner>> {
        const bool is_worn = state->repeat != spec.repeat && !state->forks_for(spec);
        if (is_worn || (state->child && !state->child->lives())) state->end();
        state->repeat = spec.repeat;
        if (!state->child) state->child = std::make_unique<TrainingChild>(state->options);
        return std::make_unique<Lent>(state, spec);
      };
}

bool KeptTrainingChild::waits() const noexcept { return state_->waits; }

}  // namespace ridgeline::execute
