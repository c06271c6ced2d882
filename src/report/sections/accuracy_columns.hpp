// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "report/report_model.hpp"
#include "report/tune_view.hpp"

namespace ridgeline::report {

/// The columns of what a PyTorch model's outputs are judged by, beside the output error: the user's metric, or the
/// cosine similarity. None of what the run does not judge by.
class AccuracyColumns {
 public:
  explicit AccuracyColumns(const TuneView& view);

  void add_titles(std::vector<Table::Column>& columns) const;
  /// A dash stands where `outcome` (nullptr: not finished) does not know the number.
  void add_cells(std::vector<std::string>& cells, const schema::TrialOutcome* outcome) const;

 private:
  bool metric_ = false;
  bool cosine_ = false;
};

/// How outputs were judged; empty: they were not.
[[nodiscard]] schema::Message accuracy_limits(const schema::TuneRun& run);

}  // namespace ridgeline::report
