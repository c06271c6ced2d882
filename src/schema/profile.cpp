// SPDX-License-Identifier: Apache-2.0
#include "schema/profile.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.hpp"
#include "base/utf8.hpp"
#include "schema/messages.hpp"

namespace ridgeline::schema {
namespace {

constexpr std::size_t kLongestCommand = 60;  // columns
constexpr std::int64_t kIdleParts = 33;      // of the time: a 33rd of it is worth a word

}  // namespace

RL_DEFINE_JSON(ProfileModelRequest, workload, provider, where, configuration)
RL_DEFINE_JSON(ProfileRequest, RL_RUN_REQUEST, files, command, directory, model)
RL_DEFINE_JSON(ProfileSource, path, tool, bytes, events)
RL_DEFINE_JSON(ProfileIdle, cause, gaps, total_ns, longest_ns, places)
RL_DEFINE_JSON(ProfileDevice, process, device, name, multiprocessors, memory_bytes_per_s, kernels, graph_launches,
               span_ns, busy_ns, kernel_ns, copy_ns, both_ns, streams, critical_stream, critical_ns, collective_ns,
               exposed_ns, idle)
RL_DEFINE_JSON(ProfileCounter, name, unit, launches, sum, least, most)
RL_DEFINE_JSON(ProfileBytes, source, first_step, last_step, second_run, launches, kernel_ns)
RL_DEFINE_JSON(ProfileGraph, name, module, nodes, launches, read_bytes, write_bytes, l2_bytes, total_ns, tensor_share,
               bytes_source)
RL_DEFINE_JSON(ProfileBandwidth, device, name, bytes_per_s, peak_bytes_per_s, seconds)
RL_DEFINE_JSON(ProfileKernel, name, module, calls, total_ns, least_ns, most_ns, grid, block, registers, shared_bytes,
               bytes, bytes_ns, bytes_source, counters, line)
RL_DEFINE_JSON(ProfileLine, line, kernels, copies, work_ns, waits, waited_ns)
RL_DEFINE_JSON(ProfileNode, name, operation, provider, module, calls, total_ns, bytes, flops, bytes_ns, bytes_source)
RL_DEFINE_JSON(ProfileOperator, name, calls, host_ns)
RL_DEFINE_JSON(ProfileModule, path, name, parent, kind, calls, host_self_ns, host_total_ns, gpu_self_ns, gpu_total_ns,
               backward_ns, kernels, bytes, flops, bytes_ns, flops_ns, bytes_source, tensor_ns, tensor_of_ns, step_ns,
               step_bytes, line)
RL_DEFINE_JSON(ProfileStep, name, start_ns, duration_ns, work_ns, kernels, left_out)
RL_DEFINE_JSON(ProfileCost, plain_ns, traced_ns, nodes_ns, events, event_ns)
RL_DEFINE_JSON(ProfileRoof, bytes_per_s, flops_per_s)
RL_DEFINE_JSON(ProfileHolder, place, bytes, allocations)
RL_DEFINE_JSON(ProfileMemoryPoint, time_ns, allocated_bytes, reserved_bytes)
RL_DEFINE_JSON(ProfileOutOfMemory, time_ns, asked_bytes, free_bytes, place)
RL_DEFINE_JSON(ProfileMemory, process, device, peak_allocated_bytes, peak_ns, reserved_at_peak_bytes,
               peak_reserved_bytes, end_bytes, allocations, frees, holders, series, out_of_memory)
void to_json(base::Json& json, const ProfileFinding& finding) {
  json = {{"title", finding.title},       {"module", finding.module},       {"line", finding.line},
          {"evidence", finding.evidence}, {"saving_ns", finding.saving_ns}, {"saving_share", finding.saving_share},
          {"computed", finding.computed}, {"advice", finding.advice},       {"snippet", finding.snippet}};
  if (finding.verification) json["verification"] = *finding.verification;
}
void from_json(const base::Json& json, ProfileFinding& finding) {
  finding = {};
  const auto read = [&](const char* key, auto& into) {
    if (const auto found = json.find(key); found != json.end()) found->get_to(into);
  };
  read("title", finding.title);
  read("module", finding.module);
  read("line", finding.line);
  read("evidence", finding.evidence);
  read("saving_ns", finding.saving_ns);
  read("saving_share", finding.saving_share);
  read("computed", finding.computed);
  read("advice", finding.advice);
  read("code", finding.snippet);  // of older records
  read("snippet", finding.snippet);
  read("verification", finding.verification);
  if (finding.title.is(kLegacy) && json.contains("rule"))
    finding.title =
        base::Json{{"code", kLegacy}, {"arguments", {{"text", json["title"]}, {"rule", json["rule"]}}}}.get<Message>();
}
RL_DEFINE_JSON(ProfileTables, devices, kernels, copies, nodes, operators, modules, step_name, steps, bytes, lines,
               graphs, memory, span_ns, runs, missing)
RL_DEFINE_JSON(ProfileRun, RL_RUN_ENVELOPE, request, environment, sources, trials, provider, runtime, cost, roof,
               bandwidths, trace_file, tables, findings)

BytesSource merged(BytesSource one, BytesSource other) noexcept {
  if (one == other || other == BytesSource::unknown) return one;
  return one == BytesSource::unknown ? other : BytesSource::mixed;
}

std::optional<double> ProfileRoof::share(std::int64_t bytes, std::int64_t flops, std::int64_t ns) const {
  if (ns <= 0) return std::nullopt;
  const double by_memory = bytes >= 0 && bytes_per_s > 0 ? static_cast<double>(bytes) / bytes_per_s : 0;
  const double by_arithmetic = flops >= 0 && flops_per_s > 0 ? static_cast<double>(flops) / flops_per_s : 0;
  const double least_s = std::max(by_memory, by_arithmetic);
  return least_s > 0 ? std::optional(least_s * 1e9 / static_cast<double>(ns)) : std::nullopt;
}

Run to_run(const ProfileRun& run) {
  RunLine line;
  line.subject = fmt::format("{}", fmt::join(source_names(run), " "));
  const auto& tables = run.tables;
  line.provider = run.provider;
  if (!tables.devices.empty()) line.device = tables.devices.front().name;
  line.objective = "time";
  if (!run.findings.empty()) {
    line.decision = "change";
    line.answer = run.findings.front().title;
    line.value = run.findings.front().saving_share;
  } else {
    line.decision = "keep";
    line.answer = no_findings(run);
  }
  return wrap_run(ProfileRun::kLayout, run, std::move(line));
}

std::string module_class(std::string_view name) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::string out;
  for (std::size_t at = 0; at < name.size();) {
    const bool begins =
        is_digit(name[at]) && (at == 0 || std::string_view(" ._-#(/:").find(name[at - 1]) != std::string_view::npos);
    auto end = at;
    while (begins && end < name.size() && is_digit(name[end])) ++end;
    if (begins && (end == name.size() || std::string_view(" ._-)/:").find(name[end]) != std::string_view::npos)) {
      out += '#';
      at = end;
    } else {
      out += name[at++];
    }
  }
  return out;
}

std::string short_module_path(std::string_view path) {
  std::string out;
  for (auto end = path.find('/'); end != std::string_view::npos; end = path.find('/')) {
    auto part = path.substr(0, end);
    if (const auto at = part.find(" ("); at != 0 && part.ends_with(')')) part = part.substr(0, at);
    out.append(part).push_back('/');
    path.remove_prefix(end + 1);
  }
  return out.append(path);
}

std::string ProfileFinding::rule() const {
  if (title.is(kLegacy)) return title.arguments().value("rule", "");
  auto rule = title.code().substr(title.code().find('.') + 1);
  std::replace(rule.begin(), rule.end(), '_', '-');
  return rule;
}

std::vector<std::string> source_names(const ProfileRun& run) {
  if (auto command = run.request.command; !command.empty()) {
    command.front() = base::file_name(command.front());
    return {base::shorten(shell_line(command), kLongestCommand)};
  }
  std::vector<std::string> out;
  for (const auto& source : run.sources) out.emplace_back(base::file_name(source.path));
  return out;
}

Message no_findings(const ProfileRun& run) {
  const auto has_no_cause = [](IdleCause cause) {
    return cause == IdleCause::unknown || cause == IdleCause::host_unrecorded;
  };
  for (const auto& device : run.tables.devices) {
    // Of a trace that may lack work, not even the rows are there.
    auto unknown_ns = device.span_ns - device.busy_ns;
    for (const auto& idle : device.idle)
      if (!has_no_cause(idle.cause)) unknown_ns -= idle.total_ns;
    if (unknown_ns >= device.span_ns / kIdleParts && unknown_ns > 0) return messages::profile_nothing_to_gain(true);
  }
  return messages::profile_nothing_to_gain(false);
}

}  // namespace ridgeline::schema
