// SPDX-License-Identifier: Apache-2.0
#include "report/profile/profile_figures.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include "report/messages.hpp"
#include "report/profile/profile_cells.hpp"

namespace ridgeline::report {

using schema::ProfileModule;
using schema::ProfileRun;

std::int64_t gpu_count(const ProfileRun& run) {
  const auto& devices = run.tables.devices;
  if (run.sources.empty() || run.sources.front().tool != schema::kRecordedByUs) return std::ssize(devices);
  std::set<std::int32_t> numbers;
  for (const auto& device : devices) numbers.insert(device.device);
  return std::ssize(numbers);
}

double peak_bytes_per_s(const ProfileRun& run) {
  const auto& devices = run.tables.devices;
  if (devices.empty()) return 0;
  const auto peak = devices.front().memory_bytes_per_s;
  const bool alike = std::all_of(devices.begin(), devices.end(),
                                 [&](const auto& device) { return device.memory_bytes_per_s == peak; });
  return alike ? static_cast<double>(peak) : 0;
}

bool tells_rate(const ProfileRun& run, std::int64_t calls, std::int64_t ns) {
  return !run.cost || static_cast<double>(ns) > static_cast<double>(calls) * run.cost->event_ns;
}

std::vector<schema::Message> rate_notes(const ProfileRun& run) {
  const auto& all = run.tables.nodes;
  std::int64_t short_ones = 0;
  std::int64_t beyond = 0;
  double most = 0;
  for (const auto& node : all) {
    if (!tells_rate(run, node.calls, node.total_ns)) {
      ++short_ones;
      continue;
    }
    const auto share = run.roof.share(node.bytes, node.flops, node.total_ns).value_or(0);
    if (share <= kWholeRoof) continue;
    ++beyond;
    most = std::max(most, share);
  }
  std::vector<schema::Message> out;
  if (short_ones > 0)
    out.push_back(messages::profile_no_rates({.few = short_ones, .all = std::ssize(all), .event = run.cost->event_ns}));
  if (beyond > 0)
    out.push_back(messages::profile_beyond_roof({.beyond = beyond, .all = std::ssize(all), .most = most}));
  const auto peak = peak_bytes_per_s(run);
  std::int64_t kernels = 0;
  double fastest = 0;
  for (const auto& kernel : run.tables.kernels) {
    if (!is_beyond(peak, kernel.bytes, kernel.rated_ns())) continue;
    ++kernels;
    fastest = std::max(fastest, static_cast<double>(kernel.bytes) / static_cast<double>(kernel.rated_ns()));
  }
  if (kernels > 0)
    out.push_back(messages::profile_beyond_peak(
        {.beyond = kernels, .all = std::ssize(run.tables.kernels), .peak = peak / 1e9, .most = fastest}));
  return out;
}

ProfileRun per_run(ProfileRun run) {
  const auto runs = run.tables.runs;
  if (runs <= 1) return run;
  const auto divide = [&](std::int64_t& value) { value = value < 0 ? value : (value + runs / 2) / runs; };
  for (auto& node : run.tables.nodes)
    for (auto* value : {&node.calls, &node.total_ns, &node.bytes, &node.flops, &node.bytes_ns}) divide(*value);
  for (auto& row : run.tables.modules)
    for (auto* value :
         {&row.calls, &row.host_self_ns, &row.host_total_ns, &row.bytes, &row.flops, &row.bytes_ns, &row.flops_ns})
      divide(*value);
  for (auto& finding : run.findings) divide(finding.saving_ns);
  run.tables.runs = 1;
  return run;
}

std::int64_t whole_ns(const ProfileRun& run) {
  return run.tables.modules.empty() ? 0 : row_ns(run, run.tables.modules.front());
}

std::int64_t row_ns(const ProfileRun& run, const ProfileModule& row) {
  return run.tables.devices.empty() ? row.host_total_ns : row.gpu_total_ns;
}

std::int64_t rated_ns(const ProfileRun& run, const ProfileModule& row) {
  if (row.bytes < 0) return 0;
  return row.bytes_ns < 0 ? row_ns(run, row) : row.bytes_ns;  // of runs that were stored before it was counted
}

double share_of(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

}  // namespace ridgeline::report
