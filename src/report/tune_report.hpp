// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analysis/ranking.hpp"
#include "report/report_model.hpp"
#include "schema/message_renderer.hpp"
#include "schema/tune_run.hpp"

namespace ridgeline::report {

/// The whole report of a tune run, from records alone: same input, same bytes.
[[nodiscard]] ReportModel build_tune_report(const schema::MessageRenderer& words, const schema::TuneRun& run,
                                            const analysis::OutcomesByKey& outcomes, const analysis::PairsByKey& pairs);

}  // namespace ridgeline::report
