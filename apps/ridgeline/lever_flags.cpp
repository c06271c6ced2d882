// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/lever_flags.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.hpp"
#include "campaign/messages.hpp"
#include "schema/training_lever.hpp"

namespace ridgeline::app {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

Result<void> check_lever(const char* flag, const std::string& name) {
  const auto known = schema::training_lever_names();
  if (std::find(known.begin(), known.end(), name) != known.end()) return {};
  const auto near = base::nearest_name(name, known);
  return fail(ErrorCode::invalid_argument, "{} {}: no such lever; known are {}", flag, name, fmt::join(known, ", "))
      .hint("{}", near.empty() ? "see docs/reference/bench.md" : fmt::format("did you mean {}?", near));
}

base::Error no_levers(const char* flag, const std::string& text) {
  return base::Error{ErrorCode::invalid_argument, fmt::format("{} {}: a simulated training has no levers", flag, text),
                     "give a script after --, a function with --python, or a built-in model"};
}

}  // namespace

bool has_own_training(const BenchFlags& flags, const Context& context) {
  return !flags.python.empty() || (context.program && flags.model.empty());
}

bool may_have_levers(const BenchFlags& flags, const Context& context) {
  return has_own_training(flags, context) || flags.model.rfind("synthetic", 0) != 0;
}

Result<void> refuse_levers_in_plugin(const BenchFlags& flags) {
  const bool tries = !flags.tries.empty() && flags.tries != std::vector<std::string>{"none"};
  const std::string asked = !flags.levers.empty()         ? "--lever " + flags.levers.front()
                            : !flags.memory_limit.empty() ? "--memory-limit " + flags.memory_limit
                            : tries                       ? "--try " + flags.tries.front()
                                                          : "";
  if (asked.empty()) return {};
  return fail(ErrorCode::invalid_argument, "{}: the LibTorch plugin trains the model, which has no levers", asked)
      .hint("--python-exe python3 trains it in Python, with levers");
}

Result<void> read_set_levers(const BenchFlags& flags, bool has_levers, campaign::BenchRequest& request) {
  for (const auto& text : flags.levers) {
    if (!has_levers) return tl::unexpected(no_levers("--lever", text));
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
      return fail(ErrorCode::invalid_argument, "--lever {}: expected NAME=VALUE", text)
          .hint("for example --lever channels_last=true");
    const auto name = text.substr(0, equals);
    RL_TRY(check_lever("--lever", name));
    request.job.options[schema::lever_option(name)] = text.substr(equals + 1);
    request.origins.push_back({"lever", text, campaign::messages::origin_flag("--lever")});
  }
  return {};
}

Result<void> read_memory_limit(const BenchFlags& flags, bool has_levers, double capacity_bytes,
                               campaign::BenchRequest& request) {
  const auto& text = flags.memory_limit;
  if (text.empty()) return {};
  if (!has_levers) return tl::unexpected(no_levers("--memory-limit", text));
  const bool is_sized = text.size() > 2 && text.ends_with("GB");
  const auto number = base::parse_number(is_sized ? text.substr(0, text.size() - 2) : "", "--memory-limit");
  if (!number || *number <= 0)
    return fail(ErrorCode::invalid_argument, "--memory-limit {}: expected gigabytes", text).hint("for example 24GB");
  if (!schema::is_gpu_device(request.device))
    return fail(ErrorCode::invalid_argument, "--memory-limit {}: needs a GPU, and trials run on {}", text,
                request.device)
        .hint("leave it out");
  constexpr double kGigabyte = 1e9;
  if (capacity_bytes > 0 && *number * kGigabyte > capacity_bytes)
    return fail(ErrorCode::invalid_argument, "--memory-limit {}: the GPU has {:.1f} GB", text,
                capacity_bytes / kGigabyte)
        .hint("give less");
  request.job.options["ridgeline_memory_gb"] = fmt::format("{}", *number);
  request.origins.push_back({"memory limit", text, campaign::messages::origin_flag("--memory-limit")});
  return {};
}

Result<void> read_tried_levers(const BenchFlags& flags, bool has_levers, campaign::BenchRequest& request) {
  std::vector<std::string> names;
  for (const auto& text : flags.tries)
    for (const auto& part : base::split(text, ',')) names.emplace_back(base::trim(part));
  if (names.empty()) {
    if (has_levers && request.job.kind != "native") request.levers = schema::training_lever_names();
    return {};
  }
  const auto listed = fmt::format("{}", fmt::join(names, ","));
  if (!has_levers) return tl::unexpected(no_levers("--try", listed));
  if (names == std::vector<std::string>{"none"}) return {};
  if (flags.no_diagnosis)
    return fail(ErrorCode::invalid_argument, "--try {} and --no-diagnosis contradict each other", listed)
        .hint("leave one out");
  for (const auto& name : names) RL_TRY(check_lever("--try", name));
  request.levers = names;
  request.levers_by_name = true;
  return {};
}

}  // namespace ridgeline::app
