// SPDX-License-Identifier: Apache-2.0
#include "report/profile/profile_verification.hpp"

#include <utility>

#include "base/text.hpp"
#include "report/format.hpp"
#include "report/inline_text.hpp"
#include "report/messages.hpp"
#include "report/utf8.hpp"
#include "stats/quantile.hpp"

namespace ridgeline::report {
namespace {

using schema::Message;
using schema::MessageRenderer;
using schema::ProfileVerification;
using schema::Verdict;

/// The word of a verdict in a message.
template <typename Word>
Word word_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::faster: return Word::faster;
    case Verdict::slower: return Word::slower;
    case Verdict::no_difference: return Word::no_difference;
    case Verdict::inconclusive: break;
  }
  return Word::inconclusive;
}

Tone tone_of(Verdict verdict) {
  if (verdict == Verdict::faster) return Tone::good;
  return verdict == Verdict::slower ? Tone::bad : Tone::neutral;
}

Message step_message(const ProfileVerification& found) {
  const auto processes = std::min(found.present_ns.size(), found.changed_ns.size());
  return messages::profile_verified_step(
      {.present = stats::median(found.present_ns),
       .changed = stats::median(found.changed_ns),
       .processes = processes > 1 ? std::optional(static_cast<std::int64_t>(processes)) : std::nullopt});
}

}  // namespace

std::vector<std::string> verification_lines(const MessageRenderer& words, const schema::ProfileFinding& finding) {
  const auto& found = *finding.verification;
  if (!found.comparison)
    return {words.text(messages::profile_not_verified({.what = found.what, .reason = found.reason}))};
  const auto saving = found.saving();
  std::vector<std::string> out{words.text(
      messages::profile_verified({.predicted = finding.saving_share,
                                  .saving = saving.value,
                                  .low = saving.low,
                                  .high = saving.high,
                                  .verdict = word_of<messages::ProfileVerifiedVerdict>(found.comparison->verdict),
                                  .what = found.what}))};
  if (!found.present_ns.empty() && !found.changed_ns.empty())
    out.push_back(words.text(messages::profile_step_times(step_message(found))));
  for (auto& remark : words.texts(found.remarks)) out.push_back(std::move(remark));
  return out;
}

ReportModel verification_answer(const MessageRenderer& words, const schema::ProfileRun& run, std::size_t finding) {
  const auto& of = run.findings.at(finding);
  const auto& found = *of.verification;
  ReportModel out;
  out.asked = one_line(words.text(messages::profile_verify_asked(
      {.number = static_cast<std::int64_t>(finding) + 1, .run = run.id, .title = of.title})));
  auto& blocks = out.answer.blocks;
  Facts facts;
  const auto fact = [&](const char* label, const Message& text) {
    facts.rows.emplace_back(label, plain_text(one_line(words.text(text))));
  };
  fact("change", found.what);
  fact("predicted", messages::profile_predicted_saving(of.saving_share));
  if (found.comparison) {
    const auto saving = found.saving();
    blocks.emplace_back(
        Callout{tone_of(found.comparison->verdict),
                words.text(messages::profile_verified_ratio(
                    {.verdict = word_of<messages::ProfileVerifiedRatioVerdict>(found.comparison->verdict),
                     .ratio = found.comparison->ratio})),
                {}});
    fact("measured",
         messages::profile_verified_saving({.saving = saving.value, .low = saving.low, .high = saving.high}));
    if (!found.present_ns.empty() && !found.changed_ns.empty()) fact("step", step_message(found));
  } else {
    blocks.emplace_back(Callout{Tone::warning, words.text(messages::profile_unverified()),
                                sentence(plain_text(one_line(words.text(found.reason))))});
  }
  blocks.emplace_back(std::move(facts));
  BulletList remarks;
  for (const auto& remark : words.texts(found.remarks)) remarks.items.push_back(sentence(plain_text(remark)));
  if (!remarks.items.empty()) blocks.emplace_back(std::move(remarks));
  return out;
}

}  // namespace ridgeline::report
