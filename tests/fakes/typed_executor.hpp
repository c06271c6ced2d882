// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "execute/calls.hpp"
#include "execute/message.hpp"

namespace ridgeline::fakes {

/// An executor whose answers are methods with types: what a test overrides. Jobs run when they are waited for, trials
/// that were submitted together in one call of run_trials.
class TypedExecutor : public execute::Executor {
 public:
  std::vector<execute::DeviceSlot> places{{"cpu", {}}};
  std::vector<std::size_t> slots_used;  ///< of all jobs but trials, in order; the last is that of the running one

  virtual schema::RuntimeSearch find_runtimes(const schema::RuntimeRequest& where) {
    schema::RuntimeSearch search{{schema::FoundRuntime{}}, {}};
    search.runtimes.front().library_path = where.library;
    return search;
  }
  virtual base::Result<schema::RuntimeIdentity> probe(const std::string&, const std::string&) { return unused(); }
  virtual base::Result<schema::RuntimeIdentity> probe_with(const execute::ProbeRequest& asked) {
    return probe(asked.kind, asked.library);
  }
  virtual base::Result<schema::ModelDescription> inspect(const workload::InspectRequest&) { return unused(); }
  virtual base::Result<schema::TrialOutcome> run_trial(const schema::TrialSpec&, const execute::TrialOptions&) {
    return unused();
  }
  virtual base::Result<schema::PairedOutcome> run_pair(const schema::PairedSpec&, const execute::TimeLeft&) {
    return unused();
  }
  virtual base::Result<schema::OutputError> make_reference(const schema::TrialSpec&, const std::filesystem::path&,
                                                           const execute::TimeLeft&) {
    return unused();
  }
  virtual base::Result<schema::GpuCeilings> gpu_ceilings(const std::string&, const std::string&) { return unused(); }
  virtual base::Result<schema::RuntimeGraph> runtime_graph(const schema::TrialSpec&) {
    return base::fail(base::ErrorCode::unsupported, "no graph can be read here");
  }
  virtual base::Result<schema::TrainingOutcome> run_training(const schema::TrainingTrialSpec&) { return unused(); }
  virtual base::Result<schema::SweepOutcome> run_command(const execute::CommandTrial&, const execute::TimeLeft&) {
    return unused();
  }
  /// Of all slots.
  virtual std::vector<base::Result<schema::TrialOutcome>> run_trials(const std::vector<execute::TrialJob>& jobs) {
    std::vector<base::Result<schema::TrialOutcome>> outcomes;
    for (const auto& job : jobs) outcomes.push_back(run_trial(job.spec, job.options));
    return outcomes;
  }
  /// Where capabilities() names it.
  virtual workload::AheadStates prepare_ahead(const workload::AheadRequest&) { return {}; }
  virtual schema::Environment machine() const { return {}; }

  [[nodiscard]] const std::vector<execute::DeviceSlot>& slots() const override { return places; }
  [[nodiscard]] std::vector<std::string> capabilities(std::size_t) const override { return {}; }
  [[nodiscard]] base::Result<schema::Environment> environment(std::size_t) override { return machine(); }
  [[nodiscard]] base::Result<execute::JobId> submit(execute::Job job) override {
    if (job.slot >= slots().size()) return base::fail(base::ErrorCode::invalid_argument, "slot {}", job.slot);
    waiting_.emplace_back(++last_id_, std::move(job));
    return last_id_;
  }
  [[nodiscard]] std::optional<execute::FinishedJob> wait_any() override {
    if (finished_.empty()) work();
    if (finished_.empty()) return std::nullopt;
    auto ended = std::move(finished_.front());
    finished_.pop_front();
    return ended;
  }
  void cancel() override {
    for (const auto& [id, job] : waiting_)
      finished_.push_back({id, base::fail(base::ErrorCode::cancelled, "cancelled before it began")});
    waiting_.clear();
  }

 private:
  static tl::unexpected<base::Error> unused() {
    return base::fail(base::ErrorCode::internal, "the test does not expect this job");
  }
  template <typename T>
  static base::Result<execute::JobAnswer> packed(base::Result<T> value) {
    return std::move(value).map([](auto&& found) { return execute::JobAnswer{base::Json(found), {}}; });
  }
  template <typename T>
  static T read(const execute::Job& job) {
    return base::json_as<T>(job.request, "job").value();
  }

  void work() {
    std::vector<execute::TrialJob> trials;
    std::vector<execute::JobId> ids;
    for (const auto& [id, job] : waiting_) {
      if (job.kind != execute::job_kind::kTrial) {
        finished_.push_back({id, answer(job)});
        continue;
      }
      const auto request = read<execute::TrialRequest>(job);
      execute::TrialOptions options{request.stop_above_ns, request.throughput,   request.reference, job.deadline_s,
                                    job.time_left,         request.keep_session, request.apart};
      trials.push_back({job.slot, request.spec, options});
      ids.push_back(id);
    }
    waiting_.clear();
    if (trials.empty()) return;
    auto outcomes = run_trials(trials);
    for (std::size_t i = 0; i < ids.size(); ++i)
      finished_.push_back(
          {ids[i], std::move(outcomes[i]).map([](auto&& outcome) { return execute::answer_of(std::move(outcome)); })});
  }

  base::Result<execute::JobAnswer> answer(const execute::Job& job) {
    slots_used.push_back(job.slot);
    namespace kind = execute::job_kind;
    if (job.kind == kind::kFind) return execute::JobAnswer{find_runtimes(read<execute::FindRequest>(job).where), {}};
    if (job.kind == kind::kProbe || job.kind == kind::kCeilings) {
      const auto asked = read<execute::ProbeRequest>(job);
      return job.kind == kind::kProbe ? packed(probe_with(asked)) : packed(gpu_ceilings(asked.kind, asked.library));
    }
    if (job.kind == kind::kInspect) {
      const auto asked = read<execute::InspectMessage>(job);
      return packed(inspect({asked.workload, asked.library, asked.length}));
    }
    if (job.kind == kind::kPair) {
      auto asked = read<execute::PairRequest>(job);
      asked.spec.fresh_process = asked.fresh_process;
      return run_pair(asked.spec, job.time_left).map([](auto&& outcome) {
        return execute::answer_of(std::move(outcome));
      });
    }
    if (job.kind == kind::kReference) {
      const auto asked = read<execute::ReferenceRequest>(job);
      return packed(make_reference(asked.spec, asked.path, job.time_left));
    }
    if (job.kind == kind::kAhead)
      return execute::JobAnswer{base::Json(prepare_ahead(read<workload::AheadRequest>(job))), {}};
    if (job.kind == kind::kGraph) return packed(runtime_graph(read<execute::GraphRequest>(job).spec));
    if (job.kind == kind::kTrainingTrial) return packed(run_training(read<schema::TrainingTrialSpec>(job)));
    if (job.kind == kind::kCommand) return packed(run_command(read<execute::CommandTrial>(job), job.time_left));
    return unused();
  }

  execute::JobId last_id_ = 0;
  std::vector<std::pair<execute::JobId, execute::Job>> waiting_;
  std::deque<execute::FinishedJob> finished_;
};

}  // namespace ridgeline::fakes
