// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/json.hpp"
#include "schema/sweep.hpp"
#include "schema/training_run.hpp"
#include "schema/tune_run.hpp"

namespace ridgeline::store {

// What a run of before schema 4, which kept no request, was asked for: what its record (`old`) says, and its command
// line, which is read here for the last time. How many finalists were compared and for how long is not known. Errors:
// corrupt.
[[nodiscard]] base::Result<schema::TuneRequest> old_request(const schema::TuneRun& run, const base::Json& old);
[[nodiscard]] base::Result<schema::BenchRequest> old_request(const schema::BenchRun& run, const base::Json& old);
[[nodiscard]] base::Result<schema::SweepRequest> old_request(const schema::SweepRun& run, const base::Json& old);

}  // namespace ridgeline::store
