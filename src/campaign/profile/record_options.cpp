// SPDX-License-Identifier: Apache-2.0
#include "campaign/profile/record_options.hpp"

#include <fmt/format.h>

namespace ridgeline::campaign {

std::string RecordOptions::text() const {
  auto out = text_without_counters();
  if (counting == Counting::window) out += ";counters=window";
  if (counting == Counting::window && counts_concurrent) out += ";counters_force=1";
  if (max_events > 0) out += fmt::format(";max_events={}", max_events);
  return out;
}

std::string RecordOptions::text_of_rerun() const { return text_without_counters() + ";counters=rerun"; }

std::string RecordOptions::text_without_counters() const {
  auto out = fmt::format("max_bytes={}", max_bytes);
  if (!range.empty()) out += fmt::format(";range={}", range);
  if (warmup_steps) out += fmt::format(";warmup_steps={}", *warmup_steps);
  if (steps) out += fmt::format(";steps={}", *steps);
  if (profiler_api) out += ";capture_range=cudaProfilerApi";
  if (lines) out += ";lines=1";
  if (delay_s) out += fmt::format(";delay_s={}", *delay_s);
  if (duration_s) out += fmt::format(";duration_s={}", *duration_s);
  return out;
}

}  // namespace ridgeline::campaign
