// SPDX-License-Identifier: Apache-2.0
#include "measure/paired_rounds.hpp"

#include <algorithm>

namespace ridgeline::measure {
namespace {

schema::PairedPlan share_of(const schema::PairedPlan& plan, int rounds) {
  auto share = plan;
  share.quads = (plan.quads + rounds - 1) / rounds;
  share.max_quads = std::max(share.quads, plan.max_quads / rounds);
  share.min_time_s = plan.min_time_s / rounds;
  share.max_time_s = plan.max_time_s / rounds;
  return share;
}

void append(schema::PairedMeasurement& to, schema::PairedMeasurement more) {
  to.items_per_inference_a = more.items_per_inference_a;
  to.items_per_inference_b = more.items_per_inference_b;
  for (auto& block : more.blocks) to.blocks.push_back(std::move(block));
  for (auto& flag : more.flags)
    if (std::none_of(to.flags.begin(), to.flags.end(),
                     [&](const auto& known) { return known.code == flag.code && known.message == flag.message; }))
      to.flags.push_back(std::move(flag));
}

}  // namespace

base::Result<schema::PairedMeasurement> measure_paired_rounds(const MakeArm& make_a, const MakeArm& make_b,
                                                              const schema::PairedPlan& plan, MeasureControl& control) {
  const int rounds = std::clamp(plan.rounds, 1, std::max(1, plan.quads));
  const auto share = share_of(plan, rounds);
  schema::PairedMeasurement all;
  for (int round = 0; round < rounds && !control.cancel.load(std::memory_order_relaxed); ++round) {
    const bool a_first = round % 2 == 0;
    RL_TRY_ASSIGN(const auto first, a_first ? make_a() : make_b());
    RL_TRY_ASSIGN(const auto second, a_first ? make_b() : make_a());
    RL_TRY_ASSIGN(auto measured, measure_paired(a_first ? *first : *second, a_first ? *second : *first, share, control));
    append(all, std::move(measured));
  }
  return all;
}

}  // namespace ridgeline::measure
