// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "campaign/run_frame.hpp"
#include "campaign/tune/candidate_spaces.hpp"
#include "campaign/tune/code_program.hpp"
#include "campaign/tune/time_keeper.hpp"
#include "campaign/tune/tune_budget.hpp"
#include "execute/found_runtimes.hpp"

namespace ridgeline::campaign {

/// What every phase of a run works with.
struct RunContext {
  /// Begins the run. All must outlive the context.
  RunContext(execute::Executor& executor_in, store::Store& store_in, const base::Clock& clock_in,
             CampaignObserver& observer_in, std::function<bool()> cancelled_in, TuneRequest request_in)
      : executor(executor_in),
        store(store_in),
        clock(clock_in),
        observer(observer_in),
        cancelled(std::move(cancelled_in)),
        request(std::move(request_in)) {}
  RunContext(const RunContext&) = delete;
  RunContext& operator=(const RunContext&) = delete;

  /// For the report, and for whoever watches.
  void note(schema::Message message) {
    result.run.notes.push_back(std::move(message));
    observer.note(result.run.notes.back());
  }
  [[nodiscard]] base::Result<void> check_cancelled() const { return campaign::check_cancelled(cancelled); }

  execute::Executor& executor;
  store::Store& store;
  const base::Clock& clock;
  CampaignObserver& observer;
  std::function<bool()> cancelled;
  TuneRequest request;  ///< its plans suit the provider and --max-time once the run is prepared
  TuneResult result;
  std::optional<CodeProgram> code_program;         ///< of the answer, while it is not known, of the best so far
  std::optional<execute::FoundRuntimes> runtimes;  ///< set once the run is prepared
  std::map<std::string, schema::ModelDescription> exported;  ///< what candidates run that have a workload of their own
  CandidateSpaces spaces;                                    ///< none until they are built
  TuneBudget budget{clock, request, result, spaces};
  TimeKeeper times{budget, result.run};
  RunFrame<schema::TuneRun> frame{store, clock, budget, result.run, schema::shell_line(request.arguments)};
};

/// Base of what works within one run: the context's members by short names. The context must outlive it.
class RunPart {
 protected:
  explicit RunPart(RunContext& context)
      : context_(context),
        executor_(context.executor),
        store_(context.store),
        clock_(context.clock),
        observer_(context.observer),
        request_(context.request),
        result_(context.result),
        spaces_(context.spaces),
        budget_(context.budget) {}
  ~RunPart() = default;

  RunContext& context_;
  execute::Executor& executor_;
  store::Store& store_;
  const base::Clock& clock_;
  CampaignObserver& observer_;
  const TuneRequest& request_;
  TuneResult& result_;
  const CandidateSpaces& spaces_;
  TuneBudget& budget_;
};

}  // namespace ridgeline::campaign
