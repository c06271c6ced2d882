// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "execute/training_server.hpp"
#include "ridgeline/subcommand.hpp"
#include "workload/training/plugin_step_runner.hpp"

namespace ridgeline::app {
namespace {

using base::ErrorCode;
using workload::StepError;
using workload::StepResult;

/// A plugin that cannot be opened is reported in answer to the first request, as every other mistake.
class ClosedRunner final : public workload::StepRunner {
 public:
  explicit ClosedRunner(base::Error reason) : reason_(std::move(reason)) {}
  [[nodiscard]] StepError reason() const { return StepError{reason_, {}, {}, {}, {}}; }
  StepResult<void> prepare(const schema::TrainingTrialSpec&) override { return tl::unexpected(reason()); }
  StepResult<workload::StepWindow> run(std::int64_t) override { return tl::unexpected(reason()); }
  StepResult<void> reset_peaks() override { return tl::unexpected(reason()); }
  StepResult<schema::TrainingResources> resources() override { return tl::unexpected(reason()); }
  void close() noexcept override {}

 private:
  base::Error reason_;
};

StepResult<schema::TrainingJob> job_of(const base::Json& request) {
  auto job = base::json_as<schema::TrainingJob>(request.value("job", base::Json::object()), "a training job");
  if (!job) return tl::unexpected(StepError{std::move(job).error(), {}, {}, {}, {}});
  return std::move(*job);
}

base::Json json_of(const workload::DataFacts& facts) {
  base::Json out{{"options", facts.options}, {"notes", facts.notes}};
  if (facts.samples) out["samples"] = *facts.samples;
  return out;
}

StepResult<base::Json> describe(workload::PluginStepRunner& runner, const base::Json& request) {
  const auto job = job_of(request);
  if (!job) return tl::unexpected(job.error());
  auto found = runner.describe(*job);
  if (!found) return tl::unexpected(std::move(found).error());
  auto out = json_of(found->data);
  out["runtime"] = found->runtime;
  out["cuda"] = found->cuda;
  out["source_sha256"] = found->target_sha256;
  if (found->parameters) out["parameters"] = *found->parameters;
  return out;
}

/// What needs no plugin.
StepResult<base::Json> describe_data(const base::Json& request) {
  const auto job = job_of(request);
  if (!job) return tl::unexpected(job.error());
  auto found = workload::find_data_facts(*job);
  if (!found) return tl::unexpected(StepError{std::move(found).error(), {}, {}, {}, {}});
  return json_of(*found);
}

base::Result<int> serve(const std::vector<std::string>& plugins) {
  const char* const number = std::getenv("RIDGELINE_CHANNEL_FD");
  const auto socket = base::parse_integer(number == nullptr ? "" : number, "RIDGELINE_CHANNEL_FD");
  if (!socket || *socket < 3 || *socket > 1 << 20)
    return base::fail(ErrorCode::invalid_argument, "train-worker is started by `ridgeline bench --model NAME`");
  const int fd = static_cast<int>(*socket);
  ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  ::unsetenv("RIDGELINE_CHANNEL_FD");
  ::signal(SIGPIPE, SIG_IGN);
  auto library = workload::PluginLibrary::open({plugins.begin(), plugins.end()});
  std::unique_ptr<workload::StepRunner> runner;
  execute::TrainingServer::Describe answer;
  if (library) {
    auto plugin = std::make_unique<workload::PluginStepRunner>(std::move(*library));
    answer = [plugin = plugin.get()](const base::Json& request) { return describe(*plugin, request); };
    runner = std::move(plugin);
  } else {
    auto closed = std::make_unique<ClosedRunner>(std::move(library).error());
    answer = [reason = closed->reason()](const base::Json& request) -> StepResult<base::Json> {
      if (request.value("data", false)) return describe_data(request);
      return tl::unexpected(reason);
    };
    runner = std::move(closed);
  }
  RL_TRY(execute::TrainingServer(*runner, answer).serve(fd));
  std::fflush(nullptr);
  // Without LibTorch's and CUDA's own ends: their threads and static objects take each other's ground away.
  ::_exit(kOk);
}

}  // namespace

void add_train_worker(CLI::App& app, Context& context) {
  const auto plugins = std::make_shared<std::vector<std::string>>();
  auto* command = add_subcommand(app, context, "train-worker", "Trains for a parent process", "",
                                 [plugins]() -> base::Result<int> { return serve(*plugins); });
  command->add_option("--plugin", *plugins, "Training plugin; the first one that loads is used")->type_name("FILE");
  command->group("");  // hidden: started by ridgeline itself
}

}  // namespace ridgeline::app
