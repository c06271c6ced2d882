// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/script_plan.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "campaign/messages.hpp"
#include "execute/gpu_choice.hpp"
#include "execute/local_environment.hpp"
#include "ridgeline/checked_program.hpp"
#include "ridgeline/flag_values.hpp"
#include "ridgeline/words.hpp"
#include "schema/messages.hpp"
#include "schema/run_request.hpp"
#include "schema/training_lever.hpp"

namespace ridgeline::app {

using base::ErrorCode;
using base::fail;
using base::Result;
using schema::Message;

Result<std::string> asked_device(const BenchFlags& flags, const BenchPlan& plan,
                                 const std::vector<schema::GpuDescription>& gpus) {
  const auto& asked = flags.devices;
  const bool is_number = asked.find_first_not_of("0123456789") == std::string::npos;
  if (!is_number) return asked;
  if (gpus.empty() || plan.request.job.kind == kSynthetic) return "cuda:" + asked;
  RL_TRY_ASSIGN(const auto groups, execute::choose_gpus(asked, plan.environment));
  const auto found =
      std::find_if(gpus.begin(), gpus.end(), [&](const auto& gpu) { return gpu.uuid == groups.front().front().uuid; });
  return fmt::format("cuda:{}", found - gpus.begin());
}

Result<Message> origin_fixed(const std::string& reason, bool asked, const char* flag) {
  if (asked)
    return fail(ErrorCode::invalid_argument, "{}: cannot be changed from outside: {}", flag, reason)
        .hint("leave it out");
  return campaign::messages::origin_not_changed(schema::messages::foreign(reason));
}

namespace {

/// Options that would say what is trained, which the command does.
Result<void> check_script_flags(const BenchFlags& flags) {
  const std::array<std::pair<const char*, bool>, 6> others{{{"--model", !flags.model.empty()},
                                                            {"--torch-plugin", !flags.torch_plugin.empty()},
                                                            {"--python-exe", !flags.interpreter.empty()},
                                                            {"--data-path", !flags.data_path.empty()},
                                                            {"--seed", flags.seed.has_value()},
                                                            {"--spread", flags.spread}}};
  for (const auto& [name, given] : others)
    if (given)
      return fail(ErrorCode::invalid_argument, "{}: the command after -- decides that", name).hint("leave it out");
  return {};
}

/// Where the script runs and writes, which is reported before it does.
Result<void> choose_folder(const BenchFlags& flags, const Context& context, ChildTerms& terms, BenchPlan& plan) {
  std::error_code error;
  auto folder = std::filesystem::current_path(error).string();
  if (error) return fail(ErrorCode::io, "the current folder cannot be read: {}", error.message());
  if (!flags.workdir.empty()) {
    RL_TRY(copy_work_folder(flags.workdir));
    folder = std::filesystem::absolute(flags.workdir, error).string();
  }
  plan.request.job.options[kScriptFolder] = folder;
  const auto database = std::filesystem::absolute(context.database_path());
  auto begun = base::system_clock().utc_now();
  std::erase(begun, ':');
  plan.logs = database.parent_path() / "scripts" / fmt::format("{}-{}", begun, ::getpid());
  terms.logs = plan.logs;
  if (flags.talks())
    fmt::print("{}\n", words().text(campaign::messages::bench_script_writes(
                           {.folder = folder, .copied = !flags.workdir.empty(), .logs = plan.logs.string()})));
  std::fflush(stdout);
  return {};
}

}  // namespace

Result<ScriptFacts> plan_script(const BenchFlags& flags, const Context& context, ChildTerms& terms, BenchPlan& plan) {
  auto& job = plan.request.job;
  RL_TRY(check_script_flags(flags));
  job.kind = kScript;
  const auto& command = *context.program;
  if (command.empty() || command.front().empty())
    return fail(ErrorCode::invalid_argument, "no command after --")
        .hint("add one, for example: ridgeline bench -- python train.py");
  RL_TRY(check_program(command.front()));
  for (const auto& [name, value] : std::exchange(job.options, {})) {
    const bool is_lever = name == schema::lever_option(name.substr(name.find(':') + 1));
    if (!is_lever) RL_TRY(check_script_option(name));
    job.options[is_lever ? name : schema::lever_option(name)] = value;
  }
  job.target = schema::shell_line(command);
  plan.environment = execute::local_environment();
  if (schema::is_cpu_device(flags.devices)) {
    plan.child_environment = {{"CUDA_VISIBLE_DEVICES", ""}};
  } else if (flags.devices != "auto" && flags.devices != schema::kGpuDevice) {
    RL_TRY_ASSIGN(const auto device, asked_device(flags, plan, plan.environment.gpus));
    RL_TRY_ASSIGN(const auto index, whole_number(device.substr(device.find(':') + 1), "--devices", 0, 1023));
    if (static_cast<std::size_t>(index) < plan.environment.gpus.size())
      plan.child_environment = execute::gpu_environment(plan.environment.gpus[static_cast<std::size_t>(index)]);
  }
  RL_TRY(choose_folder(flags, context, terms, plan));
  plan.request.origins.push_back({"script", job.target, campaign::messages::origin_command()});
  RL_TRY_ASSIGN(auto facts, describe_script(job, terms, plan.child_environment));
  job.runtime = facts.runtime;
  job.target_sha256 = facts.source_sha256;
  job.options["ridgeline_loaders"] = facts.loaders;
  std::string fixed;
  for (const auto& [name, reason] : facts.fixed)
    fixed += fmt::format("{}{}", fixed.empty() ? "" : ",", name == "batch" ? "batch_size" : "num_workers");
  if (!fixed.empty()) job.options["ridgeline_fixed"] = fixed;
  plan.request.refused_levers = facts.refused;
  return facts;
}

}  // namespace ridgeline::app
