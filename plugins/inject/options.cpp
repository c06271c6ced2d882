// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <cstdlib>

namespace ridgeline::inject {

Options Options::parse(std::string_view text) {
  Options out;
  while (!text.empty()) {
    const auto end = text.find(';');
    const auto item = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const auto equals = item.find('=');
    if (equals == std::string_view::npos) continue;
    const auto key = item.substr(0, equals);
    const std::string value(item.substr(equals + 1));
    const auto number = std::strtod(value.c_str(), nullptr);
    if (key == "max_bytes") out.max_bytes = static_cast<std::uint64_t>(number);
    if (key == "max_events") out.max_events = static_cast<std::uint64_t>(number);
    if (key == "range") out.range = value;
    if (key == "warmup_steps") out.warmup_steps = static_cast<std::int64_t>(number);
    if (key == "steps") out.steps = static_cast<std::int64_t>(number);
    if (key == "capture_range") out.profiler_api = value == "cudaProfilerApi";
    if (key == "lines") out.lines = number != 0;
    if (key == "hooks") out.hooks = number != 0;
    if (key == "delay_s") out.delay_s = number;
    if (key == "start_ns") out.start_ns = std::strtoll(value.c_str(), nullptr, 10);
    if (key == "duration_s") out.duration_s = number;
    if (key == "counters" && value == "window") out.counters = CounterMode::window;
    if (key == "counters" && value == "rerun") out.counters = CounterMode::rerun;
    if (key == "counters_force") out.counters_force = number != 0;
  }
  return out;
}

}  // namespace ridgeline::inject
