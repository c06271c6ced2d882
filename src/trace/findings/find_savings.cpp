// SPDX-License-Identifier: Apache-2.0
#include "trace/findings/find_savings.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "trace/analysis/range_names.hpp"
#include "trace/findings/rules.hpp"
#include "trace/messages.hpp"

namespace ridgeline::trace {

void Case::advise(schema::ProfileFinding& finding, const Advice& kind) const {
  auto ran = frameworks;
  if (ran.onnx && ran.torch && !finding.module.empty() && !is_python_line(finding.module)) {
    ran.onnx = is_within_session_run(finding.module);
    ran.torch = !ran.onnx;
  }
  const bool onnx_alone = ran.onnx && !ran.torch && kind.onnx_advice != nullptr;
  const bool torch_alone = ran.torch && !ran.onnx;
  finding.advice = onnx_alone ? kind.onnx_advice() : kind.advice();
  finding.snippet = onnx_alone ? kind.onnx_snippet : kind.snippet;
  if (onnx_alone || torch_alone || kind.onnx_snippet.empty()) return;
  finding.snippet += (finding.snippet.empty() ? "" : "\n") + std::string(kind.onnx_snippet);
}

bool Case::add(schema::ProfileFinding finding, double least, std::int64_t of_ns) const {
  if (of_ns == 0) of_ns = span_ns;
  if (of_ns <= 0) return false;
  if (most_ns > 0 && finding.saving_ns > most_ns) {
    finding.saving_ns = most_ns;
    finding.computed = what_most_is();
  }
  finding.saving_share = static_cast<double>(finding.saving_ns) / static_cast<double>(of_ns);
  if (finding.saving_share < least) return false;
  found.push_back(std::move(finding));
  return true;
}

void Case::add(const Tally& tally, const Advice& kind, schema::Message title, schema::Message computed,
               schema::Message bytes, double least) const {
  if (tally.count() == 0) return;
  schema::ProfileFinding finding;
  finding.title = std::move(title);
  finding.computed = std::move(computed);
  tally.tell(finding, tables.runs);
  advise(finding, kind);
  if (!bytes.empty()) finding.evidence.push_back(std::move(bytes));
  add(std::move(finding), least);
}

void Case::add_kernels(const Tally& tally, const Advice& kind, schema::Message title, schema::Message computed,
                       schema::Message bytes, double least) const {
  auto of_kernels = *this;
  if (busy_ns > 0 && tally.saving_on_one_ns() > busy_ns && (most_ns == 0 || busy_ns < most_ns)) {
    of_kernels.most_ns = busy_ns;
    of_kernels.what_most_is = &messages::computed_busy_time;
  }
  of_kernels.add(tally, kind, std::move(title), std::move(computed), std::move(bytes), least);
}

std::string module_of_work(const AnalysedTrace& analysed, Place row) {
  const auto& attribution = analysed.attribution;
  if (row == kNowhere || row == attribution.unattributed) return {};
  const auto& at = attribution.rows[row];
  const bool has_module = at.parent != kNowhere && at.parent != 0;
  return path_of(attribution, at.kind == schema::ModuleKind::operation && has_module ? at.parent : row);
}

namespace {

/// Nothing saves more than a run takes, even where nodes run beside each other. 0: the tables are not of runs.
std::int64_t median_runs_ns(const schema::ProfileTables& tables) {
  std::vector<std::int64_t> durations;
  for (const auto& step : tables.steps)
    if (!step.left_out) durations.push_back(step.duration_ns);
  if (tables.runs <= 1 || durations.empty()) return 0;
  const auto middle = durations.begin() + static_cast<std::ptrdiff_t>(durations.size() / 2);
  std::nth_element(durations.begin(), middle, durations.end());
  return *middle * tables.runs;
}

/// The one line that calls all modules of that path, or of that class of paths.
std::string line_of_module(const std::vector<schema::ProfileModule>& modules, const std::string& path) {
  if (path.empty()) return {};
  const auto wanted = schema::module_class(path);
  std::optional<std::string> out;
  for (const auto& row : modules) {
    if (row.path == path) return row.line;
    if (schema::module_class(row.path) != wanted) continue;
    if (out && row.line != *out) return {};
    out = row.line;
  }
  return out.value_or("");
}

}  // namespace

std::vector<schema::ProfileFinding> find_savings(const AnalysedTrace& analysed, const schema::ProfileTables& tables) {
  std::vector<schema::ProfileFinding> found;
  std::int64_t span = 0;
  std::int64_t busy = 0;
  for (const auto& device : tables.devices) {
    span = std::max(span, device.span_ns);
    busy = std::max(busy, device.busy_ns);
  }
  // Of runs of a model, with what they take outside of nodes.
  if (tables.devices.empty() && !tables.modules.empty()) span = tables.modules.front().host_total_ns;
  std::vector<bool> counted_gaps(analysed.gaps.size());
  const Case all{analysed,
                 tables,
                 span,
                 median_runs_ns(tables),
                 &messages::computed_median_run,
                 busy,
                 frameworks_of(analysed.trace),
                 found,
                 counted_gaps};
  if (!analysed.trace.lacks_durations) kernel_rules(all);
  node_rules(all);
  if (analysed.knows_idle_time()) {  // else nobody knows where the GPU had none
    optimizer_rule(all);
    idle_rules(all);
    copy_rules(all);
    collective_rule(all);
  }
  for (auto& finding : found)
    if (finding.line.empty()) finding.line = line_of_module(tables.modules, finding.module);
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& one, const auto& other) { return one.saving_share > other.saving_share; });
  return found;
}

}  // namespace ridgeline::trace
