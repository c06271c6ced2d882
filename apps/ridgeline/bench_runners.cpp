// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/bench_runners.hpp"

#include <cstdlib>
#include <filesystem>
#include <utility>
#include <vector>

#include "base/cancel.hpp"
#include "base/file.hpp"
#include "execute/training_child.hpp"
#include "workload/training/synthetic_step_runner.hpp"

namespace ridgeline::app {
namespace {

using base::ErrorCode;
using base::Result;

constexpr double kDescribeLimitS = 300;   ///< importing torch from a cold network file system takes minutes

/// The folder that holds the package ridgeline_train: RIDGELINE_PYTHON_FOLDER, beside the installed program, else that of
/// the source tree this program was built from.
Result<std::string> package_folder() {
  std::vector<std::filesystem::path> places;
  if (const char* set = std::getenv("RIDGELINE_PYTHON_FOLDER"); set != nullptr && *set != '\0') places.emplace_back(set);
  places.push_back(base::executable_path().parent_path().parent_path() / "share/ridgeline/python");
  places.emplace_back(RIDGELINE_SOURCE_PYTHON);
  std::error_code ignored;
  for (const auto& place : places)
    if (std::filesystem::exists(place / "ridgeline_train/__main__.py", ignored)) return place.string();
  return base::fail(ErrorCode::not_found, "the Python package ridgeline_train is not at {}; install Ridgeline again, or set RIDGELINE_PYTHON_FOLDER",
                    places.front().string());
}

Result<execute::TrainingChildOptions> python_child(const std::string& interpreter) {
  RL_TRY_ASSIGN(auto folder, package_folder());
  if (const char* set = std::getenv("PYTHONPATH"); set != nullptr && *set != '\0') folder += ":" + std::string(set);
  execute::TrainingChildOptions options;
  options.command = {interpreter, "-m", "ridgeline_train"};
  options.environment = {{"PYTHONPATH", folder}, {"PYTHONUNBUFFERED", "1"}};
  options.cancelled = &base::cancel_requested;
  return options;
}

}  // namespace

Result<PythonJob> describe_python_job(const std::string& interpreter, const std::string& target) {
  RL_TRY_ASSIGN(auto options, python_child(interpreter));
  execute::TrainingChild child(std::move(options));
  const auto answer = child.ask({{"op", "describe"}, {"target", target}}, kDescribeLimitS);
  if (!answer) {
    auto error = answer.error().error;
    // Whatever goes wrong here is for the user to mend: the code itself, or the interpreter.
    if (error.code == ErrorCode::internal) error.code = ErrorCode::invalid_argument;
    return tl::unexpected(std::move(error).in(fmt::format("--python {}", target)));
  }
  child.close();
  return PythonJob{answer->value("runtime", ""), answer->value("source_sha256", "")};
}

Result<BenchRunners> make_bench_runners(const schema::TrainingJob& job) {
  if (job.kind == "synthetic") {
    auto clock = std::make_shared<const workload::VirtualClock>();
    return BenchRunners{workload::make_synthetic_steps(clock), clock};
  }
  if (job.kind == "python") {
    RL_TRY_ASSIGN(const auto options, python_child(job.python));
    return BenchRunners{[options](const schema::TrainingTrialSpec&) -> Result<std::unique_ptr<workload::StepRunner>> {
                          return std::make_unique<execute::TrainingChild>(options);
                        },
                        nullptr};
  }
  return base::fail(ErrorCode::unsupported, "--model {}: this program has no built-in models; train your own with --python MODULE:FUNCTION", job.target);
}

}  // namespace ridgeline::app
