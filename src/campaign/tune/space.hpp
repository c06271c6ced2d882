// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "campaign/tune/run_context.hpp"

namespace ridgeline::campaign {

/// The second phase: the space of a prepared run and the searcher of it. Errors: a space that cannot be searched, and
/// those of TuneRequest::accept_space.
[[nodiscard]] base::Result<std::unique_ptr<search::Searcher>> build_space(RunContext& context);

/// What the search is likely to try first, before candidates of other engines are known.
[[nodiscard]] std::vector<schema::Configuration> foreseen_trials(const RunContext& context);

/// Whether the results file may hold trials of this model on this device.
[[nodiscard]] bool has_known_trials(const RunContext& context);

}  // namespace ridgeline::campaign
