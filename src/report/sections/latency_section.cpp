// SPDX-License-Identifier: Apache-2.0
#include "report/charts/charts.hpp"
#include "report/inline_text.hpp"
#include "report/sections/sections.hpp"

namespace ridgeline::report {

Section latency_section(const TuneView& view) {
  Section section{"latency", "Latency", {}};
  if (view.ranking.empty()) return section;
  section.blocks.emplace_back(
      Paragraph{"Time of single inferences. The box holds the middle half of a trial's samples, its line is the "
                "median, the whiskers reach "
                "from the 5th to the 95th percentile."});
  section.blocks.emplace_back(distribution_chart(view));
  section.blocks.emplace_back(ecdf_chart(view));
  return section;
}

Section tradeoff_section(const TuneView& view) {
  Section section{"tradeoff", "Throughput and latency", {}};
  if (view.ranking.size() < 2) return section;
  section.blocks.emplace_back(Paragraph{
      fmt::format("No other trial has both more throughput and less latency than those on the Pareto front: {} {}.",
                  view.front.size() == 1 ? "trial" : "trials", trial_links(view.front))});
  section.blocks.emplace_back(tradeoff_chart(view));
  return section;
}

}  // namespace ridgeline::report
