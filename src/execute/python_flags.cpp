// SPDX-License-Identifier: Apache-2.0
#include "execute/python_flags.hpp"

#include "execute/messages.hpp"

namespace ridgeline::execute {

using schema::FlagLevel;

std::vector<schema::QualityFlag> prepared_flags(const base::Json& answer) {
  std::vector<schema::QualityFlag> flags;
  for (const auto& note : answer.value("notes", std::vector<schema::Message>()))
    flags.push_back({FlagLevel::info, "torch_note", note});
  if (answer.value("cold_cache", false))
    flags.push_back({FlagLevel::info, std::string(schema::kColdCompile), messages::cold_compile()});
  if (answer.value("beside", false) && answer.value("compile_s", 0.0) > 0)
    flags.push_back({FlagLevel::info, "prepared_beside", messages::prepared_beside()});
  if (answer.value("compiled_anew", false))
    flags.push_back({FlagLevel::info, std::string(schema::kCompiledAnew), messages::compiled_anew()});
  if (const auto hits = answer.value("cache_hits", std::int64_t{0}); hits > 0)
    flags.push_back({FlagLevel::info, "warm_compile", messages::warm_compile(hits)});
  return flags;
}

std::vector<schema::QualityFlag> proof_flags(const base::Json& answer) {
  std::vector<schema::QualityFlag> flags;
  messages::RanAs seen;
  if (const auto frames = answer.value("compiled_frames", std::int64_t{0}); frames > 0) seen.frames = frames;
  seen.captured = answer.value("graph_captured", false);
  seen.before = seen.frames || seen.captured;
  seen.attention = answer.value("sdpa", std::string());
  if (seen.before || !seen.attention.empty())
    flags.push_back({FlagLevel::info, std::string(schema::kRanAs), messages::ran_as(seen)});
  if (const auto breaks = answer.value("graph_breaks", std::int64_t{0}); breaks > 0) {
    flags.push_back({FlagLevel::notice, "graph_breaks",
                     messages::graph_breaks(
                         {.breaks = breaks, .reasons = answer.value("break_reasons", std::vector<std::string>())})});
  }
  if (const auto again = answer.value("recompiles", std::int64_t{0}); again > 0)
    flags.push_back({FlagLevel::notice, "recompilations", messages::recompilations(again)});
  return flags;
}

}  // namespace ridgeline::execute
