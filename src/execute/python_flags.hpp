// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/json.hpp"
#include "schema/measurement.hpp"

namespace ridgeline::execute {

/// What the answer to "prepare" says for the record: the trial's notes, and whether it compiled with an empty cache
/// (schema::kColdCompile), one without its graphs (schema::kCompiledAnew) or one that had them.
[[nodiscard]] std::vector<schema::QualityFlag> prepared_flags(const base::Json& answer);

/// What the answer to "proof" says for the record: as what it ran (schema::kRanAs), graph breaks, recompilations.
[[nodiscard]] std::vector<schema::QualityFlag> proof_flags(const base::Json& answer);

}  // namespace ridgeline::execute
