// SPDX-License-Identifier: Apache-2.0
#include "execute/command_jobs.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "base/file.hpp"
#include "execute/command_failure.hpp"
#include "execute/message.hpp"
#include "execute/messages.hpp"
#include "execute/output_tail.hpp"
#include "schema/error_message.hpp"
#include "schema/message_renderer.hpp"
#include "schema/sweep_command.hpp"
#include "schema/sweep_metric.hpp"

namespace ridgeline::execute {
namespace {

using base::ErrorCode;
using schema::TrialStatus;

constexpr double kGb = 1e-9;
constexpr double kShortestLimitS = 0.05;

/// The end of a file, cleaned for people.
std::string tail_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  file.seekg(0, std::ios::end);
  const auto size = static_cast<std::int64_t>(file.tellg());
  const auto take = std::min<std::int64_t>(std::max<std::int64_t>(size, 0), std::int64_t{OutputTail::kMaxBytes});
  std::string text(static_cast<std::size_t>(take), '\0');
  file.seekg(-take, std::ios::end);
  file.read(text.data(), take);
  OutputTail tail;
  tail.append(text);
  return tail.text();
}

struct FileStamp {
  std::int64_t seconds = 0;
  std::int64_t nanoseconds = 0;
  std::int64_t size = -1;  ///< -1: there is none
  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

FileStamp stamp_of(const std::filesystem::path& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return {};
  return {info.st_mtim.tv_sec, info.st_mtim.tv_nsec, info.st_size};
}

class CommandJobs {
 public:
  explicit CommandJobs(CommandOptions options)
      : options_(std::move(options)), gpus_(options_.gpu_uuids, options_.nvml) {}

  base::Result<schema::SweepOutcome> run(const schema::SweepTrialSpec& spec, const std::filesystem::path& folder,
                                         std::optional<double> time_left_s) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) return base::fail(ErrorCode::io, "cannot make the folder {}: {}", folder.string(), error.message());
    const auto values = schema::substitutions(spec, folder.string());
    CommandRequest request;
    request.environment = options_.environment;
    for (const auto& word : spec.job.command) request.argv.push_back(schema::substitute(word, values));
    for (const auto& [name, value] : spec.job.environment)
      request.environment.emplace_back(name, schema::substitute(value, values));
    const auto own_file = folder / "metrics.txt";
    std::filesystem::remove(own_file, error);
    request.environment.emplace_back("RIDGELINE_METRICS_FILE", own_file.string());
    request.environment.emplace_back("RIDGELINE_TRIAL_DIR", folder.string());
    request.environment.emplace_back("RIDGELINE_REPEAT", std::to_string(spec.repeat + 1));
    request.log = folder / "output.log";
    const bool cut = time_left_s && (spec.job.timeout_s <= 0 || *time_left_s < spec.job.timeout_s);
    request.limit_s = cut ? std::max(*time_left_s, kShortestLimitS) : spec.job.timeout_s;
    const std::filesystem::path metric_file =
        spec.job.metric_file.empty() ? own_file
                                     : std::filesystem::path(schema::substitute(spec.job.metric_file, values));
    const auto stamp = stamp_of(metric_file);

    CommandRunnerOptions runner{options_.supervisor, options_.cancelled, options_.on_progress};
    const auto begun = base::system_clock().now();
    schema::SweepOutcome out;
    out.measured_utc = base::system_clock().utc_now();
    out.folder = folder.string();
    out.timeout_s = spec.job.timeout_s;
    RL_TRY_ASSIGN(const auto result, run_command(request, runner, gpus_));
    out.duration_s = base::to_seconds(base::system_clock().now() - begun);
    if (result.cancelled) return base::fail(ErrorCode::cancelled, "stopped by a signal");
    if (result.timed_out && cut) return base::fail(ErrorCode::timeout, "--max-time is used up");
    if (const auto& refused = result.report.launch_error; !refused.empty())
      return base::fail(ErrorCode::not_found, "{}", schema::text_of(refused, messages::table()));
    out.notes = notes_of(result);
    if (result.timed_out || result.report.exit_code != 0) {
      auto judged = judge_command(result, request.limit_s, tail_of(request.log));
      out.status = judged.status;
      out.failure = std::move(judged.failure);
      return out;
    }
    out.metrics = own_numbers(result);
    add_metrics(spec, request, metric_file, stamp_of(metric_file) != stamp, out);
    return out;
  }

 private:
  static std::vector<schema::Message> notes_of(const CommandResult& result) {
    std::vector<schema::Message> notes;
    const auto& report = result.report;
    if (report.left_behind > 0) notes.push_back(messages::left_behind(report.left_behind));
    if (report.survivors > 0) notes.push_back(messages::not_ended(report.survivors));
    if (result.output_left_out > 0)
      notes.push_back(messages::output_left_out(static_cast<std::int64_t>(result.output_left_out)));
    return notes;
  }

  [[nodiscard]] std::map<std::string, double> own_numbers(const CommandResult& result) const {
    const auto& report = result.report;
    auto out = gpus_.metrics();
    out["seconds"] = report.wall_s;
    out["cpu_s"] = report.cpu_s;
    if (report.wall_s > 0) out["cpu_percent"] = report.cpu_s / report.wall_s * 100;
    if (result.peak_rss_bytes > 0) out["memory_gb"] = static_cast<double>(result.peak_rss_bytes) * kGb;
    if (report.read_bytes) out["read_gb"] = static_cast<double>(*report.read_bytes) * kGb;
    if (report.write_bytes) out["write_gb"] = static_cast<double>(*report.write_bytes) * kGb;
    return out;
  }

  /// What the command printed and wrote. A trial without a number that was asked for has failed.
  static void add_metrics(const schema::SweepTrialSpec& spec, const CommandRequest& request,
                          const std::filesystem::path& metric_file, bool written, schema::SweepOutcome& out) {
    const auto fail_with = [&](schema::Message message) {
      out.status = TrialStatus::failed;
      out.failure.emplace();
      out.failure->phase = schema::TrialPhase::measure;
      out.failure->message = std::move(message);
      out.failure->exit_code = 0;
      out.failure->stderr_tail = tail_of(request.log);
    };
    const auto add = [&](const std::string& name, double value) {
      const auto& own = schema::own_metrics();
      if (std::find(own.begin(), own.end(), name) == own.end()) out.metrics[name] = value;
    };
    if (!spec.job.metrics.empty()) {
      const auto output = base::read_file(request.log);
      if (!output) return fail_with(schema::message_of(output.error()));
      const auto found = schema::metrics_in_output(spec.job.metrics, *output);
      if (!found.diverged.empty()) return fail_with(schema::describe(found.diverged.front()));
      for (const auto& [name, value] : found.values) add(name, value);
    }
    if (written) {
      const auto text = base::read_file(metric_file);
      if (!text) return fail_with(schema::message_of(text.error()));
      const auto found = schema::metrics_in_file(*text, metric_file.filename().string());
      if (!found) return fail_with(schema::message_of(found.error()));
      for (const auto& [name, value] : *found) add(name, value);
    }
    for (const auto& metric : spec.job.metrics)
      if (out.metrics.count(metric.name) == 0)
        return fail_with(messages::metric_not_printed({.metric = metric.name, .pattern = schema::describe(metric)}));
    if (!spec.job.metric_file.empty() && !written) fail_with(messages::metric_file_not_written(metric_file.string()));
  }

  CommandOptions options_;
  GpuTally gpus_;
};

}  // namespace

void add_command_jobs(LocalTransport& transport, CommandOptions options) {
  const auto commands = std::make_shared<CommandJobs>(std::move(options));
  transport.add(job_kind::kCommand, [commands](const Job& job) -> base::Result<JobAnswer> {
    RL_TRY_ASSIGN(const auto request, base::json_as<CommandTrial>(job.request, "job"));
    const auto left_s = job.time_left.seconds;
    RL_TRY_ASSIGN(const auto outcome, commands->run(request.spec, request.folder,
                                                    std::isfinite(left_s) ? std::optional(left_s) : std::nullopt));
    return JobAnswer{outcome, {}};
  });
}

}  // namespace ridgeline::execute
