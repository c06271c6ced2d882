// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "execute/job.hpp"
#include "fakes/fake_clock.hpp"
#include "fakes/fake_executor.hpp"

namespace ridgeline::fakes {

/// Several made-up GPUs on a virtual clock: a trial takes a second, or what `trial_s` says, and trials side by side as
/// long as the longest of them; one alone in its process `start_s` more; a comparison takes what `pair_s` says. A
/// slot's pace and what its neighbours do to it scale what the surface says, and so does the session: each trial has a
/// new one, but for TrialOptions::keep_session.
class FakeGpuPool final : public TypedExecutor {
 public:
  FakeGpuPool(const FakeClock& clock, std::size_t slots) : pace(slots, 1.0), disturbance(slots, 1.0), clock_(clock) {
    simple.noise = 0.002;
    places.assign(slots, {"gpu", {}});
  }

  FakeExecutor simple;
  std::function<double(const schema::Configuration&)> trial_s = [](const auto&) { return 1.0; };
  double start_s = 0;
  double reference_s = 0;  ///< until reference outputs are there
  std::function<double(const schema::PairedSpec&, double left_s)> pair_s = [](const auto&, double) { return 0.0; };
  std::vector<double> pace;         ///< of a slot alone; 2: takes twice as long
  std::vector<double> disturbance;  ///< factor on it while another slot is at work
  /// Until a model that is made in the background is there, all of them at a time; unset: nothing is made there.
  std::function<double(const schema::Configuration&)> ahead_s;
  double session_spread = 0;                   ///< log standard deviation from session to session of one slot
  base::Random luck{11};                       ///< of sessions
  std::vector<std::string> devices;            ///< that trials were for, in order
  std::vector<std::size_t> widths;             ///< how many trials ran at once, call by call
  std::vector<schema::MeasurementPlan> plans;  ///< of the trials, in order

  [[nodiscard]] const base::Clock& clock() const noexcept override { return clock_; }

  [[nodiscard]] std::vector<std::string> capabilities(std::size_t) const override {
    if (!ahead_s) return {};
    return {std::string(execute::job_kind::kAhead)};
  }
  workload::AheadStates prepare_ahead(const workload::AheadRequest& request) override {
    workload::AheadStates out;
    for (const auto& spec : request.specs) {
      const double now_s = base::to_seconds(clock_.now());
      const double begun_s = begun_.try_emplace(spec.configuration, now_s).first->second;
      out.states.emplace_back(now_s - begun_s < ahead_s(spec.configuration) ? "preparing" : "ready");
    }
    return out;
  }

  base::Result<schema::RuntimeIdentity> probe(const std::string& kind, const std::string& library) override {
    auto identity = simple.probe(kind, library);
    identity->providers.push_back("CUDAExecutionProvider");
    return identity;
  }
  base::Result<schema::ModelDescription> inspect(const workload::InspectRequest& request) override {
    return simple.inspect(request);
  }
  base::Result<schema::GpuCeilings> gpu_ceilings(const std::string& kind, const std::string& library) override {
    return simple.gpu_ceilings(kind, library);
  }
  base::Result<schema::TrialOutcome> run_trial(const schema::TrialSpec& spec,
                                               const execute::TrialOptions& options) override {
    return std::move(run_trials({{0, spec, options}}).front());
  }
  base::Result<schema::PairedOutcome> run_pair(const schema::PairedSpec& spec, const execute::TimeLeft& left) override {
    devices.push_back(spec.base.device);
    widths.push_back(1);
    clock_.advance(base::from_seconds(pair_s(spec, left.seconds)));
    return simple.run_pair(spec, left);
  }
  base::Result<schema::OutputError> make_reference(const schema::TrialSpec& spec, const std::filesystem::path& path,
                                                   const execute::TimeLeft& left) override {
    clock_.advance(base::from_seconds(reference_s));
    return simple.make_reference(spec, path, left);
  }
  std::vector<base::Result<schema::TrialOutcome>> run_trials(const std::vector<execute::TrialJob>& jobs) override {
    const auto surface = simple.cost_ns;
    std::vector<base::Result<schema::TrialOutcome>> outcomes;
    double longest_s = 0;
    for (const auto& job : jobs) {
      const auto session = session_for(job);
      const double factor = session.factor * pace[job.slot] * (jobs.size() > 1 ? disturbance[job.slot] : 1.0);
      simple.cost_ns = [&](const schema::Configuration& c) { return factor * surface(c); };
      outcomes.push_back(simple.run_trial(job.spec, job.options));
      const double seconds = trial_s(job.spec.configuration) + (job.spec.isolated ? start_s : 0);
      if (outcomes.back()) outcomes.back()->duration_s = seconds;
      if (session.kept && outcomes.back() && outcomes.back()->measurement)
        outcomes.back()->measurement->session_create_ns = 0;
      longest_s = std::max(longest_s, seconds);
      devices.push_back(job.spec.device);
      plans.push_back(job.spec.plan);
    }
    simple.cost_ns = surface;
    widths.push_back(jobs.size());
    clock_.advance(base::from_seconds(longest_s));
    return outcomes;
  }

 private:
  struct Session {
    std::string key;
    double factor = 1;
    bool kept = false;  ///< from the trial before
  };

  /// As a worker has it: what the slot's last trial kept, if it is of this spec but for the plan.
  Session session_for(const execute::TrialJob& job) {
    auto spec = job.spec;
    spec.plan = {};
    auto& session = sessions_[job.slot];
    const auto key = spec.key();
    session.kept = session.key == key;
    if (!session.kept) session.factor = std::exp(session_spread * luck.normal());
    session.key = job.options.keep_session ? key : "";
    return session;
  }

  std::map<std::size_t, Session> sessions_;        ///< by slot
  std::map<schema::Configuration, double> begun_;  ///< in the background, when
  const FakeClock& clock_;
};

}  // namespace ridgeline::fakes
