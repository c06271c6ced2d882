// SPDX-License-Identifier: Apache-2.0
#include "trace/findings/find_savings.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "trace/findings/rules.hpp"

namespace ridgeline::trace {

void Case::add(schema::ProfileFinding finding, double least) const {
  if (span_ns <= 0) return;
  finding.saving_share = static_cast<double>(finding.saving_ns) / static_cast<double>(span_ns);
  if (finding.saving_share >= least) found.push_back(std::move(finding));
}

std::string percent_text(double share) { return fmt::format("{:.{}f} %", share * 100, share < 0.0995 ? 1 : 0); }

std::vector<schema::ProfileFinding> find_savings(const AnalysedTrace& analysed, const schema::ProfileTables& tables) {
  std::vector<schema::ProfileFinding> found;
  std::int64_t span = 0;
  for (const auto& device : tables.devices) span += device.span_ns;
  if (tables.devices.empty())
    for (const auto& node : tables.nodes) span += node.total_ns;
  const Case all{analysed, tables, span, found};
  idle_rules(all);
  copy_rules(all);
  kernel_rules(all);
  optimizer_rule(all);
  collective_rule(all);
  node_rules(all);
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& one, const auto& other) { return one.saving_ns > other.saving_ns; });
  return found;
}

}  // namespace ridgeline::trace
