// SPDX-License-Identifier: Apache-2.0
#include "schema/profile_verification.hpp"

namespace ridgeline::schema {

RL_DEFINE_JSON(ProfileVerification, change, what, present_ns, changed_ns, comparison, reason, remarks, measured_utc)

stats::Estimate ProfileVerification::saving() const {
  const auto share = [](double ratio) { return ratio > 0 ? 1 - 1 / ratio : 0; };
  const auto found = comparison.value_or(Comparison());
  return {share(found.ratio), share(found.low), share(found.high)};
}

}  // namespace ridgeline::schema
