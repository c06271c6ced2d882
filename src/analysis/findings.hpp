// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "analysis/ranking.hpp"
#include "schema/tune_run.hpp"

namespace ridgeline::analysis {

enum class FindingKind { gain, no_effect, harmful, quality, failure, limit };

/// One sentence a person can act on, with the numbers and trial ids it rests on.
struct Finding {
  FindingKind kind = FindingKind::gain;
  schema::Message title;
  schema::Message evidence;  ///< numbers with intervals and trial ids; may be empty
  schema::Message advice;    ///< what to do; may be empty
  bool of_unrest = false;    ///< says that the machine was busy or uneven; find_all makes one of all that do
};

/// Everything worth saying about a run, most important first: gain, contributions and single-setting effects
/// (leave-one-out pairs, and trials that differ from the current configuration or the defaults in one setting), limits,
/// quality, failures.
[[nodiscard]] std::vector<Finding> find_all(const schema::TuneRun& run, const OutcomesByKey& outcomes);

/// Whether what the runtime read back for a parameter is what was asked for: flags as 1 and 0, numbers in any form, and
/// 0 where it leaves the choice to the runtime.
[[nodiscard]] bool took_effect(const std::string& key, const schema::Value& wanted, const std::string& effective);

}  // namespace ridgeline::analysis
