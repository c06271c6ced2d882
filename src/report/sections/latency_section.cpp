// SPDX-License-Identifier: Apache-2.0
#include "report/charts/charts.hpp"
#include "report/inline_text.hpp"
#include "report/messages.hpp"
#include "report/sections/sections.hpp"

namespace ridgeline::report {

Section latency_section(const TuneView& view) {
  Section section{"latency", "Latency", {}};
  if (view.ranking.empty()) return section;
  section.blocks.emplace_back(Paragraph{view.text(messages::tune_boxes())});
  section.blocks.emplace_back(distribution_chart(view));
  section.blocks.emplace_back(ecdf_chart(view));
  return section;
}

Section tradeoff_section(const TuneView& view) {
  Section section{"tradeoff", "Throughput and latency", {}};
  if (view.ranking.size() < 2) return section;
  section.blocks.emplace_back(Paragraph{view.linked(messages::tune_front(view.front))});
  section.blocks.emplace_back(tradeoff_chart(view));
  return section;
}

}  // namespace ridgeline::report
