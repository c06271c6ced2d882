// SPDX-License-Identifier: Apache-2.0
#include "execute/python_flags.hpp"

#include <fmt/ranges.h>

namespace ridgeline::execute {
namespace {

using schema::FlagLevel;

std::string counted(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace

std::vector<schema::QualityFlag> prepared_flags(const base::Json& answer) {
  std::vector<schema::QualityFlag> flags;
  for (const auto& note : answer.value("notes", std::vector<std::string>()))
    flags.push_back({FlagLevel::info, "torch_note", note});
  if (answer.value("cold_cache", false))
    flags.push_back({FlagLevel::info, std::string(schema::kColdCompile), "compiled with an empty cache"});
  if (answer.value("compiled_anew", false))
    flags.push_back({FlagLevel::info, std::string(schema::kCompiledAnew), "no graph of it was in the compile cache"});
  if (const auto hits = answer.value("cache_hits", std::int64_t{0}); hits > 0)
    flags.push_back(
        {FlagLevel::info, "warm_compile", fmt::format("{} came from the compile cache", counted(hits, "graph"))});
  return flags;
}

std::vector<schema::QualityFlag> proof_flags(const base::Json& answer) {
  std::vector<schema::QualityFlag> flags;
  std::vector<std::string> seen;
  if (const auto frames = answer.value("compiled_frames", std::int64_t{0}); frames > 0)
    seen.push_back(counted(frames, "compiled frame"));
  if (answer.value("graph_captured", false)) seen.emplace_back("CUDA graph replayed");
  if (const auto sdpa = answer.value("sdpa", std::string()); !sdpa.empty()) seen.push_back("attention: " + sdpa);
  if (!seen.empty())
    flags.push_back({FlagLevel::info, std::string(schema::kRanAs), fmt::format("{}", fmt::join(seen, ", "))});
  if (const auto breaks = answer.value("graph_breaks", std::int64_t{0}); breaks > 0) {
    const auto reasons = answer.value("break_reasons", std::vector<std::string>());
    flags.push_back(
        {FlagLevel::notice, "graph_breaks",
         fmt::format("{}{}{}", counted(breaks, "graph break"), reasons.empty() ? "" : ": ", fmt::join(reasons, "; "))});
  }
  if (const auto again = answer.value("recompiles", std::int64_t{0}); again > 0)
    flags.push_back({FlagLevel::notice, "recompilations", counted(again, "recompilation")});
  return flags;
}

}  // namespace ridgeline::execute
