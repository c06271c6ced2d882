// SPDX-License-Identifier: Apache-2.0
#include "watch/watch_event.hpp"

#include "schema/message_renderer.hpp"

namespace ridgeline::watch {

base::Json json_of(const schema::MessageRenderer& words, const WatchEvent& event) {
  base::Json out{{"schema", "ridgeline.watch.event"},
                 {"version", 3},
                 {"event", base::enum_name(event.kind)},
                 {"time_utc", event.time_utc},
                 {"baseline", event.baseline},
                 {"model", event.model},
                 {"device", event.device},
                 {"probes", event.probes}};
  if (!event.message.empty()) out.update(schema::message_json(words, event.message));
  if (event.simulated) out["simulated"] = true;
  if (!event.config.empty()) out["config"] = event.config;
  if (event.slow_down) out["slow_down_ratio"] = *event.slow_down;
  if (event.slow_down_interval) {
    out["slow_down_low"] = event.slow_down_interval->low;
    out["slow_down_high"] = event.slow_down_interval->high;
    if (event.confidence) out["confidence"] = *event.confidence;
  }
  if (event.baseline_ms) out["baseline_ms"] = *event.baseline_ms;
  if (event.now_ms) out["now_ms"] = *event.now_ms;
  if (!event.causes.empty()) {
    out["cause"] = base::enum_name(event.causes.front().kind);
    out["causes"] = schema::with_words(words, event.causes);
  }
  if (!event.details.is_null()) out["details"] = event.details;
  return out;
}

}  // namespace ridgeline::watch
