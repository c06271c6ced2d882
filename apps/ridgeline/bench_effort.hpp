// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "campaign/bench/bench_campaign.hpp"
#include "ridgeline/bench_flags.hpp"
#include "schema/message.hpp"

namespace ridgeline::app {

/// The origin of a value: that flag, or the default.
[[nodiscard]] schema::Message flag_or_default(bool given, const char* flag);

/// Search, time, stability run and diagnosis, with their origins.
void read_effort(const BenchFlags& flags, campaign::BenchRequest& request);

}  // namespace ridgeline::app
