// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "campaign/tune/tune_campaign.hpp"

namespace ridgeline::campaign {

/// The plan of comparing `b` with `a`: `plan` in blocks of one inference where inferences are slow, with `share` (0 to
/// 1) of its ABBA rounds and its time. Where a trial of either was throttled by the card's limits, blocks are long
/// enough to show what it sustains: a block after one of the other arm begins with the power and the heat that the
/// other left. In a quick search that saw `b` far ahead of `a`, two rounds and a few seconds.
[[nodiscard]] schema::PairedPlan pair_plan(const TuneResult& result, schema::PairedPlan plan,
                                           const schema::Configuration& a, const schema::Configuration& b,
                                           double share);

/// The same of two pairs of sessions and a few seconds: it says what is worth a comparison that decides.
[[nodiscard]] schema::PairedPlan short_pair_plan(const TuneResult& result, schema::PairedPlan plan,
                                                 const schema::Configuration& a, const schema::Configuration& b);

}  // namespace ridgeline::campaign
