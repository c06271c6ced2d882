// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "schema/tune_run.hpp"

namespace ridgeline::analysis {

/// Whether a configuration runs on another runtime library, or a plug-in of it, than what the user has now: a change of
/// more than settings.
[[nodiscard]] bool changes_runtime(const schema::TuneRun& run, const schema::Configuration& configuration);

/// Whether a comparison with the current configuration is enough to recommend `configuration`: it is faster, and where
/// the runtime changes, by the minimum effect at the lower end of the interval as well.
[[nodiscard]] bool proves_change(const schema::TuneRun& run, const schema::Configuration& configuration,
                                 const schema::Comparison& gain);

/// Whether the run's answer to keep what is in use is none: nothing else was tried, or a finalist's interval holds both
/// "no faster" and a gain.
[[nodiscard]] bool is_undecided(const schema::TuneRun& run);

/// Whether a comparison is of one that is slower than what it was compared with, by what was seen, by more than
/// `min_effect`: no rival, however wide its interval.
[[nodiscard]] bool looks_slower(const schema::Comparison& comparison, double min_effect) noexcept;

}  // namespace ridgeline::analysis
