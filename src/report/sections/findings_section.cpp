// SPDX-License-Identifier: Apache-2.0
#include "report/inline_text.hpp"
#include "report/sections/sections.hpp"

namespace ridgeline::report {

Section findings_section(const TuneView& view) {
  Section section{"findings", "Key findings", {}};
  BulletList list;
  for (const auto& finding : view.findings) {
    auto item = fmt::format("**{}**", sentence(plain_text(view.words.text(finding.title))));
    if (!finding.evidence.empty())
      item += " " + link_trials(view, sentence(plain_text(view.words.text(finding.evidence))));
    if (!finding.advice.empty())
      item += " → " + link_trials(view, sentence(plain_text(view.words.text(finding.advice))));
    list.items.push_back(std::move(item));
  }
  for (const auto& note : view.run.notes)
    list.items.push_back(link_trials(view, sentence(plain_text(view.words.text(note)))));
  if (!list.items.empty()) section.blocks.emplace_back(std::move(list));
  return section;
}

}  // namespace ridgeline::report
