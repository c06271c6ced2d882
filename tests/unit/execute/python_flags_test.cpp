// SPDX-License-Identifier: Apache-2.0
#include "execute/python_flags.hpp"
#include "fakes/words.hpp"

#include <gtest/gtest.h>

namespace ridgeline::execute {
namespace {

using base::Json;

std::vector<std::string> texts(const std::vector<schema::QualityFlag>& flags) {
  std::vector<std::string> all;
  for (const auto& flag : flags)
    all.push_back(fmt::format("{} {}: {}", base::enum_name(flag.level), flag.code, fakes::text_of(flag.message)));
  return all;
}

TEST(PythonFlags, say_how_it_was_compiled) {
  EXPECT_EQ(texts(prepared_flags({{"notes", {"a note"}}, {"cold_cache", true}, {"cache_hits", 0}})),
            (std::vector<std::string>{"info torch_note: a note", "info cold_compile: compiled with an empty cache"}));
  EXPECT_EQ(texts(prepared_flags({{"cold_cache", false}, {"cache_hits", 1}})),
            std::vector<std::string>{"info warm_compile: 1 graph came from the compile cache"});
  EXPECT_EQ(texts(prepared_flags({{"compiled_anew", true}, {"cache_hits", 0}})),
            std::vector<std::string>{"info compiled_anew: the compile cache had no graph of it"});
  EXPECT_TRUE(prepared_flags(Json::object()).empty());
}

TEST(PythonFlags, say_as_what_it_was_seen_to_run) {
  EXPECT_EQ(texts(proof_flags({{"compiled_frames", 3},
                               {"graph_captured", true},
                               {"sdpa", "flash"},
                               {"graph_breaks", 2},
                               {"break_reasons", {"call of print", "data-dependent branch"}},
                               {"recompiles", 1}})),
            (std::vector<std::string>{"info ran_as: 3 compiled frames, CUDA graph replayed, attention: flash",
                                      "notice graph_breaks: 2 graph breaks: call of print; data-dependent branch",
                                      "notice recompilations: 1 recompilation"}));
  EXPECT_TRUE(proof_flags({{"compiled_frames", 0}, {"graph_captured", false}, {"sdpa", ""}}).empty());
}

}  // namespace
}  // namespace ridgeline::execute
