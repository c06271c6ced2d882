// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "ridgeline/bench_flags.hpp"
#include "ridgeline/bench_script.hpp"

namespace ridgeline::app {

/// Kinds of jobs.
inline constexpr std::string_view kSynthetic = "synthetic";
inline constexpr std::string_view kScript = "script";

/// Plans the measurement of `bench -- COMMAND`: checks flags and command, chooses its folder and GPU, and runs it until
/// its first steps. The options of the plan's job were read before. Errors, one line each: flags that the command
/// decides, no such program, a folder that cannot be copied, a script that fails or trains nothing.
[[nodiscard]] base::Result<ScriptFacts> plan_script(const BenchFlags& flags, const Context& context, ChildTerms& terms,
                                                    BenchPlan& plan);

/// "cuda:0" for "0", which is how other commands name a GPU; any other text as it is.
[[nodiscard]] base::Result<std::string> asked_device(const BenchFlags& flags, const BenchPlan& plan,
                                                     const std::vector<schema::GpuDescription>& gpus);

/// Where the value of a setting comes from that a script fixes. Error: a flag `asked` for another one.
[[nodiscard]] base::Result<schema::Message> origin_fixed(const std::string& reason, bool asked, const char* flag);

}  // namespace ridgeline::app
