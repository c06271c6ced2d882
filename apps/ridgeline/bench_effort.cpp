// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/bench_effort.hpp"

#include <string>
#include <utility>

#include "analysis/messages.hpp"
#include "campaign/bench/bench_defaults.hpp"
#include "campaign/messages.hpp"
#include "ridgeline/flag_values.hpp"

namespace ridgeline::app {

schema::Message flag_or_default(bool given, const char* flag) {
  return given ? campaign::messages::origin_flag(flag) : analysis::messages::default_value();
}

void read_effort(const BenchFlags& flags, campaign::BenchRequest& request) {
  const auto note = [&](std::string name, std::string value, bool given, const char* flag) {
    request.origins.push_back({std::move(name), std::move(value), flag_or_default(given, flag)});
  };
  if (!flags.search.empty()) request.search = flags.search;
  note("search", request.search, !flags.search.empty(), "--search");
  note("max time", flags.max_time_s ? time_text(*flags.max_time_s) : "none", flags.max_time_s.has_value(),
       "--max-time");
  if (flags.max_time_s) {
    request.max_time = base::from_seconds(*flags.max_time_s);
    campaign::limit_trials(request.plan, *flags.max_time_s);
  }
  const double most_s = request.plan.max_time_s;
  request.stability_steps = flags.stability_run.value_or(campaign::kDefaultStabilitySteps);
  if (!flags.stability_run) request.short_stability_s = most_s;
  note("stability run",
       request.stability_steps == 0
           ? "none"
           : fmt::format("{} step{}", request.stability_steps, request.stability_steps == 1 ? "" : "s") +
                 (request.short_stability_s ? fmt::format(", at most {:g} s", most_s) : ""),
       flags.stability_run.has_value(), "--stability-run");
  request.diagnose = !flags.no_diagnosis;
  note("diagnosis", request.diagnose ? "on" : "off", !request.diagnose, "--no-diagnosis");
}

}  // namespace ridgeline::app
