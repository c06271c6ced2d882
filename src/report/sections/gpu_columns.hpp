// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/report_model.hpp"
#include "report/tune_view.hpp"

namespace ridgeline::report {

/// The columns that a GPU run adds to a table of trials: the metrics of `wanted` that any trial knows, then the output
/// error of the outputs where any was compared. None on a CPU.
class GpuColumns {
 public:
  GpuColumns(const TuneView& view, const std::vector<std::string_view>& wanted);

  [[nodiscard]] bool has(std::string_view metric) const;
  void add_titles(std::vector<Table::Column>& columns) const;
  /// A dash stands where `outcome` (nullptr: not finished) does not know the number.
  void add_cells(std::vector<std::string>& cells, const schema::TrialOutcome* outcome) const;

 private:
  std::vector<std::string_view> metrics_;
  bool output_error_ = false;
};

/// A GPU metric of a trial, nullopt when it is not known.
[[nodiscard]] std::optional<double> gpu_metric(const schema::TrialOutcome* outcome, std::string_view metric);
/// "5.104" for GB, "262.4" for mJ, "–".
[[nodiscard]] std::string gpu_metric_text(const schema::TrialOutcome* outcome, std::string_view metric);

}  // namespace ridgeline::report
