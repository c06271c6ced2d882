// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/sweep_flags.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/file.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "campaign/sweep/sweep_files.hpp"
#include "campaign/sweep/sweep_patch.hpp"
#include "execute/gpu_choice.hpp"
#include "execute/local_environment.hpp"
#include "ridgeline/apply_changes.hpp"
#include "ridgeline/checked_program.hpp"
#include "ridgeline/common_request.hpp"
#include "ridgeline/flag_values.hpp"
#include "ridgeline/report_files.hpp"
#include "ridgeline/worker_options.hpp"
#include "schema/sweep_command.hpp"
#include "schema/sweep_metric.hpp"

namespace ridgeline::app {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

constexpr double kLargestGrid = 1e5;

class SweepReader {
 public:
  SweepReader(const SweepFlags& flags, const Context& context) : flags_(flags), context_(context) {}

  Result<SweepPlan> read() {
    RL_TRY(read_job());
    RL_TRY(read_objective());
    read_numbers();
    RL_TRY(read_files());
    RL_TRY(read_devices());
    auto& request = plan_.request;
    request.search = flags_.search;
    request.keep_going = flags_.keep_going;
    read_common(flags_, flags_.devices, context_, request);
    return std::move(plan_);
  }

 private:
  Result<void> read_job() {
    auto& job = plan_.request.job;
    if (!flags_.stray.empty())
      return fail(ErrorCode::invalid_argument, "\"{}\" is not an option of sweep", flags_.stray.front())
          .hint(
              "put the command after --, for example: ridgeline sweep --param batch=64,128 -- python train.py --bs "
              "{{batch}}");
    if (flags_.command.empty())
      return fail(ErrorCode::invalid_argument, "no command given")
          .hint("add one, for example: ridgeline sweep --param batch=64,128 -- python train.py --bs {{batch}}");
    job.command = flags_.command;
    if (job.command.front().empty()) return fail(ErrorCode::invalid_argument, "the command's program is empty");
    for (const auto& text : flags_.params) {
      RL_TRY_ASSIGN(auto param, schema::parse_sweep_param(text));
      job.parameters.push_back(std::move(param));
    }
    for (const auto& text : flags_.environment) {
      const auto equals = text.find('=');
      if (equals == std::string::npos || equals == 0)
        return fail(ErrorCode::invalid_argument, "--env {}: expected NAME=VALUE", text)
            .hint("for example --env OMP_NUM_THREADS={{threads}}");
      job.environment.emplace_back(text.substr(0, equals), text.substr(equals + 1));
    }
    for (const auto& text : flags_.metrics) {
      RL_TRY_ASSIGN(auto metric, schema::parse_sweep_metric(text));
      const bool twice = std::any_of(job.metrics.begin(), job.metrics.end(),
                                     [&](const auto& other) { return other.name == metric.name; });
      if (twice) return fail(ErrorCode::invalid_argument, "--metric {} is given twice", metric.name);
      job.metrics.push_back(std::move(metric));
    }
    job.metric_file = flags_.metric_file;
    for (const auto& path : flags_.depends) {
      std::error_code ignored;
      if (!std::filesystem::is_regular_file(path, ignored))
        return fail(ErrorCode::not_found, "--depends {}: no such file", path)
            .hint("leave it out, or name a file that the command reads");
      job.depends.push_back(path);
    }
    std::error_code error;
    job.directory = std::filesystem::current_path(error).string();
    if (error) return fail(ErrorCode::io, "the current folder cannot be read: {}", error.message());
    RL_TRY(schema::check_placeholders(job));
    // Found out now and not once a run has begun.
    if (schema::placeholders(job.command.front()).empty()) RL_TRY(check_program(job.command.front()));
    double size = 1;
    for (const auto& param : job.parameters) size *= static_cast<double>(param.values.size());
    if (flags_.search == "grid" && size > kLargestGrid)
      return fail(ErrorCode::invalid_argument, "{:g} combinations are too many for a grid, expected at most {:g}", size,
                  kLargestGrid)
          .hint("list fewer values, or use --search adaptive or random");
    return {};
  }

  Result<void> read_objective() {
    auto& request = plan_.request;
    const auto& metrics = request.job.metrics;
    if (flags_.objective.empty()) {
      if (metrics.empty() && flags_.metric_file.empty()) return {};  // the shortest wall time
      const auto name = metrics.empty() ? std::string("NAME") : metrics.front().name;
      return fail(ErrorCode::invalid_argument, "no objective: name the metric and whether higher is better")
          .hint("add --objective max:{}, min:{} or min:seconds", name, name);
    }
    RL_TRY_ASSIGN(request.objective, schema::parse_sweep_objective(flags_.objective));
    auto known = schema::own_metrics();
    for (const auto& metric : metrics) known.push_back(metric.name);
    const auto& name = request.objective.metric;
    if (std::find(known.begin(), known.end(), name) != known.end()) return {};
    // The command may still write it to its metrics file; a likely mistake is reported now.
    if (const auto near = base::nearest_name(name, known); !near.empty())
      return fail(ErrorCode::invalid_argument, "--objective {}: no metric {}", flags_.objective, name)
          .hint("did you mean \"{}\"?", near);
    return {};
  }

  void read_numbers() {
    auto& request = plan_.request;
    request.repeats = flags_.repeat;
    request.warmups = flags_.warmup;
    request.trials = flags_.trials;
    request.seed = flags_.seed;
    request.min_effect = flags_.min_effect;
    request.tolerance = flags_.tolerance;
    if (flags_.timeout_s) request.job.timeout_s = *flags_.timeout_s;
    if (flags_.max_time_s) request.max_time = base::from_seconds(*flags_.max_time_s);
  }

  Result<void> read_files() {
    auto& request = plan_.request;
    const auto database = std::filesystem::absolute(context_.database_path());
    request.folder =
        flags_.folder.empty() ? database.parent_path() / "sweeps" : std::filesystem::absolute(flags_.folder);
    const auto& write = flags_.write;
    RL_TRY(check_write_flags(write));
    if (write.file().empty() && !flags_.apply_to.empty())
      return fail(ErrorCode::invalid_argument, "--apply-to: no file to write to").hint("add --config FILE");
    if (write.file().empty()) return {};
    RL_TRY_ASSIGN(const auto text, read_apply_file(write.file(), !write.writes(), kNoSweepFile));
    RL_TRY_ASSIGN(const auto paths, read_apply_to(flags_.apply_to));
    RL_TRY(campaign::check_paths(paths, request.job.parameters, "this sweep"));
    if (!write.config.empty()) RL_TRY(put_current_first(text, paths));
    if (!write.concerns_file()) return {};
    schema::SweepPoint first;
    for (const auto& param : request.job.parameters) first[param.name] = param.values.front();
    // Whether the file can be changed at all is found out now and not after an hour of measuring.
    RL_TRY(campaign::patch_sweep_settings(text, write.file(),
                                          campaign::settings_of(first, request.job.parameters, paths)));
    return {};
  }

  /// What the file holds now is what a sweep compares with: the first of a parameter's values.
  Result<void> put_current_first(const std::string& text, const std::map<std::string, std::string>& paths) {
    const auto& file = flags_.write.config;
    RL_TRY_ASSIGN(const auto current, campaign::read_sweep_values(text, file, plan_.request.job.parameters, paths));
    for (auto& param : plan_.request.job.parameters) {
      const auto found = current.find(param.name);
      if (found == current.end()) continue;
      const auto& [value, line] = found->second;
      const auto at = std::find_if(param.values.begin(), param.values.end(),
                                   [&](const auto& one) { return campaign::same_sweep_value(one, value); });
      if (at == param.values.end()) {
        plan_.notes.push_back(
            fmt::format("{}:{}: {} is {}, which is not among the values of --param, so it is not measured", file, line,
                        param.name, value));
        continue;
      }
      std::rotate(param.values.begin(), at, at + 1);
      plan_.notes.push_back(fmt::format("{}:{}: {} is {} now", file, line, param.name, value));
    }
    return {};
  }

  Result<void> read_devices() {
    auto& request = plan_.request;
    plan_.environment = execute::local_environment();
    RL_TRY_ASSIGN(const auto groups, execute::choose_gpus(flags_.devices, plan_.environment));
    if (flags_.spread) return spread_over(groups);
    auto& slot = plan_.slots.emplace_back();
    for (const auto& group : groups)
      for (const auto& gpu : group)
        if (!gpu.uuid.empty()) slot.gpu_uuids.push_back(gpu.uuid);
    request.device_id = slot.gpu_uuids.empty() ? plan_.environment.cpu_device_id()
                                               : fmt::format("gpu:{}", fmt::join(slot.gpu_uuids, ","));
    return {};
  }

  /// Each command gets one of the GPUs, which is the only one that it sees.
  Result<void> spread_over(const std::vector<execute::GpuGroup>& groups) {
    if (groups.size() != 1 || groups.front().size() < 2)
      return fail(ErrorCode::invalid_argument, "--spread: {}; expected several GPUs of one model",
                  groups.empty()      ? "no NVIDIA GPU was found"
                  : groups.size() > 1 ? "GPUs of several models are chosen"
                                      : "one GPU is chosen")
          .hint("name them with --devices, or leave --spread out");
    std::vector<std::string> uuids;
    for (const auto& gpu : groups.front()) {
      plan_.slots.push_back({{gpu.uuid}, execute::gpu_environment(gpu)});
      uuids.push_back(gpu.uuid);
    }
    plan_.request.device_id = fmt::format("gpu:{}", fmt::join(uuids, "|"));
    return {};
  }

  const SweepFlags& flags_;
  const Context& context_;
  SweepPlan plan_;
};

}  // namespace

Result<std::map<std::string, std::string>> read_apply_to(const std::vector<std::string>& texts) {
  std::map<std::string, std::string> out;
  for (const auto& text : texts) {
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
      return fail(ErrorCode::invalid_argument, "--apply-to {}: expected PARAMETER=PATH", text)
          .hint("for example --apply-to batch=data.batch_size");
    out[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return out;
}

Result<SweepPlan> read_sweep_flags(const SweepFlags& flags, const Context& context) {
  return SweepReader(flags, context).read();
}

}  // namespace ridgeline::app
