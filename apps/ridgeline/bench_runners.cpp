// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/bench_runners.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "campaign/bench/loader_cost.hpp"
#include "campaign/bench/wait_notes.hpp"
#include "campaign/messages.hpp"
#include "execute/kept_training_child.hpp"
#include "ridgeline/bench_script.hpp"
#include "schema/messages.hpp"
#include "workload/training/synthetic_step_runner.hpp"

namespace ridgeline::app {
namespace {

using base::ErrorCode;
using base::Result;

constexpr double kShortestQuestionS = 1;

/// A run of the script for each trial, whose output is a file of its own.
BenchRunners runners_in_scripts(const execute::JsonChildOptions& options, const std::filesystem::path& logs) {
  const auto count = std::make_shared<std::atomic<int>>(0);
  return {
      [options, logs, count](const schema::TrainingTrialSpec& spec) -> Result<std::unique_ptr<workload::StepRunner>> {
        auto own = options;
        if (!logs.empty()) own.log = logs / script_log_name(++*count, spec);
        return std::make_unique<execute::TrainingChild>(std::move(own));
      },
      nullptr, nullptr};
}

/// One process for all trials, which forks for each of a user's own function: what that leaves behind is not known.
BenchRunners runners_in_one_child(execute::JsonChildOptions options, const schema::TrainingJob& job) {
  using Forks = execute::KeptTrainingChild::Forks;
  const auto forks = job.kind == "python" ? Forks::all : trains_in_python(job) ? Forks::on_cpu : Forks::none;
  const auto child = std::make_shared<execute::KeptTrainingChild>(std::move(options), forks);
  if (forks == Forks::all) return {child->factory(), nullptr, nullptr};  // no process stays on the GPU
  return {child->factory(), nullptr, [child] { return child->waits(); }};
}

/// The answer to "describe" of a process that ends then.
Result<base::Json> described(execute::JsonChildOptions options, const base::Json& request) {
  execute::TrainingChild child(std::move(options));
  auto answer = child.ask(request, kDescribeLimitS);
  if (!answer) {
    auto error = std::move(answer).error().error;
    // The model or the data, for the user to fix.
    if (error.code == ErrorCode::internal || error.code == ErrorCode::out_of_memory)
      error.code = ErrorCode::invalid_argument;
    return tl::unexpected<base::Error>(std::move(error));
  }
  child.close();
  return std::move(*answer);
}

Result<workload::DataFacts> data_facts(const base::Json& answer) {
  workload::DataFacts facts;
  RL_TRY_ASSIGN(facts.options, (base::json_as<std::map<std::string, std::string>>(
                                   answer.value("options", base::Json::object()), "options of a native job")));
  RL_TRY_ASSIGN(facts.notes, (base::json_as<std::vector<std::string>>(answer.value("notes", base::Json::array()),
                                                                      "notes of a native job")));
  if (answer.contains("samples")) facts.samples = answer.value("samples", std::int64_t{0});
  return facts;
}

Result<base::Json> described_data(const schema::TrainingJob& job, const ChildTerms& terms) {
  return described(data_child(terms), {{"op", "describe"}, {"data", true}, {"job", job}});
}

/// Built-in models in Python get what the data's own process finds out about them.
Result<NativeJobFacts> describe_built_in(schema::TrainingJob job, const ChildTerms& terms) {
  RL_TRY_ASSIGN(const auto looked, described_data(job, terms));
  NativeJobFacts facts;
  RL_TRY_ASSIGN(facts.data, data_facts(looked));
  for (const auto& [name, value] : facts.data.options) job.options[name] = value;
  RL_TRY_ASSIGN(auto options, models_child(job.python, terms));
  RL_TRY_ASSIGN(const auto answer, described(std::move(options), {{"op", "describe"}, {"job", job}}));
  facts.runtime = answer.value("runtime", "");
  facts.trainer = fmt::format("built-in models in Python: torch {} of {}", answer.value("torch", ""), job.python);
  RL_TRY_ASSIGN(facts.refused_levers,
                (base::json_as<std::map<std::string, std::string>>(answer.value("refused", base::Json::object()),
                                                                   "levers of a built-in model")));
  facts.target_sha256 = answer.value("source_sha256", "");
  facts.cuda = answer.value("cuda", false);
  return facts;
}

Result<NativeJobFacts> describe_in_plugin(const schema::TrainingJob& job, const std::string& plugin,
                                          const ChildTerms& terms) {
  RL_TRY_ASSIGN(auto options, plugin_child(plugin, terms));
  RL_TRY_ASSIGN(const auto answer, described(std::move(options), {{"op", "describe"}, {"job", job}}));
  NativeJobFacts facts;
  RL_TRY_ASSIGN(facts.data, data_facts(answer));
  facts.runtime = answer.value("runtime", "");
  facts.trainer = fmt::format("LibTorch plugin: {}", facts.runtime);
  facts.target_sha256 = answer.value("source_sha256", "");
  facts.cuda = answer.value("cuda", false);
  return facts;
}

}  // namespace

Result<NativeJobFacts> describe_native_job(const schema::TrainingJob& job, const std::string& plugin,
                                           const ChildTerms& terms) {
  auto facts = trains_in_python(job) ? describe_built_in(job, terms) : describe_in_plugin(job, plugin, terms);
  if (!facts) return tl::unexpected<base::Error>(std::move(facts).error().in(fmt::format("--model {}", job.target)));
  return facts;
}

Result<void> check_training_data(const schema::TrainingJob& job, const ChildTerms& terms) {
  RL_TRY(described_data(job, terms));
  return {};
}

Result<PythonJob> describe_python_job(const std::string& interpreter, const std::string& target,
                                      const ChildTerms& terms) {
  RL_TRY_ASSIGN(auto options, user_child(interpreter, terms));
  execute::TrainingChild child(std::move(options));
  const auto answer = child.ask({{"op", "describe"}, {"target", target}}, kDescribeLimitS);
  if (!answer) {
    auto error = answer.error().error;
    // Whatever goes wrong here is for the user to fix: the code itself, or the interpreter.
    if (error.code == ErrorCode::timeout)
      error.hint = "put what the script runs under if __name__ == \"__main__\":, or give it more time with --max-time";
    if (error.code == ErrorCode::internal || error.code == ErrorCode::timeout) error.code = ErrorCode::invalid_argument;
    return tl::unexpected(std::move(error).in(fmt::format("--python {}", target)));
  }
  child.close();
  return PythonJob{answer->value("runtime", ""), answer->value("source_sha256", ""), answer->value("cuda", false)};
}

namespace {

/// A note on what keeps loader workers waiting, by an experiment with one and with several. `workers`: of the training.
schema::Message worker_waits(execute::TrainingChild& child, int workers, double limit_s) {
  constexpr int kSeveral = 2;
  const auto untried = [](const base::Error& error) {
    return campaign::messages::bench_worker_waits_untried(schema::messages::foreign(base::error_line(error)));
  };
  const auto answer =
      child.ask({{"op", "worker_waits"}, {"limit_s", limit_s / 2}, {"workers", std::max(kSeveral, workers)}}, limit_s);
  if (!answer) return untried(answer.error().error);
  const auto one = base::json_as<campaign::WorkerWaits>(answer->value("one", base::Json::object()), "one worker");
  const auto several =
      base::json_as<campaign::WorkerWaits>(answer->value("several", base::Json::object()), "several workers");
  if (!one) return untried(one.error());
  if (!several) return untried(several.error());
  return campaign::workers_note(*one, *several);
}

}  // namespace

std::vector<schema::Message> explain_loader(schema::TrainingTrialSpec spec, const ChildTerms& terms, double limit_s,
                                            const std::vector<std::pair<std::string, std::string>>& environment) {
  const auto failed = [](const base::Error& error) {
    return std::vector{
        campaign::messages::bench_transforms_untimed(schema::messages::foreign(base::error_line(error)))};
  };
  auto options = spec.job.kind == "script" ? script_child(spec.job, terms) : user_child(spec.job.python, terms);
  if (!options) return failed(options.error());
  options->environment.insert(options->environment.end(), environment.begin(), environment.end());
  if (spec.job.kind == "script" && !terms.logs.empty()) options->log = terms.logs / "transforms.log";
  const int workers = std::exchange(spec.settings.workers, 0);
  const auto& clock = base::system_clock();
  const auto begin = clock.now();
  const auto left_s = [&] {
    return std::clamp(limit_s - base::to_seconds(clock.now() - begin), kShortestQuestionS, kDescribeLimitS);
  };
  execute::TrainingChild child(std::move(*options));
  spec.plan.prepare_limit_s = left_s();
  if (const auto ready = child.prepare(spec); !ready) return failed(ready.error().error);
  const auto answer = child.ask({{"op", "transforms"}, {"limit_s", left_s() / 2}, {"workers", workers}}, left_s());
  if (!answer) return failed(answer.error().error);
  auto waits = worker_waits(child, workers, left_s());
  child.close();
  const double sample_ms = answer->value("sample_ms", 0.0);
  const auto rows = base::json_as<std::vector<std::pair<std::string, double>>>(
      answer->value("transforms", base::Json::array()), "transforms");
  auto notes = rows ? campaign::loader_cost(*rows, sample_ms, answer->value("workers", 0))
                    : std::vector{campaign::messages::bench_no_transforms(sample_ms)};
  notes.push_back(std::move(waits));
  return notes;
}

Result<BenchRunners> make_bench_runners(const schema::TrainingJob& job, const std::string& plugin,
                                        const ChildTerms& terms,
                                        const std::vector<std::pair<std::string, std::string>>& environment) {
  if (job.kind == "synthetic") {
    auto clock = std::make_shared<const workload::VirtualClock>();
    return BenchRunners{workload::make_synthetic_steps(clock), clock, nullptr};
  }
  RL_TRY_ASSIGN(auto options, job.kind == "script" ? script_child(job, terms) : training_child(job, plugin, terms));
  options.environment.insert(options.environment.end(), environment.begin(), environment.end());
  if (job.kind == "script") return runners_in_scripts(options, terms.logs);
  return runners_in_one_child(std::move(options), job);
}

}  // namespace ridgeline::app
