// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "schema/profile.hpp"
#include "trace/analysis/analysed_trace.hpp"

namespace ridgeline::trace {

/// What rules look at, and where they put what they find.
struct Case {
  const AnalysedTrace& analysed;
  const schema::ProfileTables& tables;
  std::int64_t span_ns = 0;  ///< of all GPUs, sum; without a GPU of the nodes
  std::vector<schema::ProfileFinding>& found;

  /// Adds the finding, with its saving's share, where that is at least `least`.
  void add(schema::ProfileFinding finding, double least = 0.01) const;
};

void idle_rules(const Case& of);    ///< launches, waits, data loading, allocation, compilation
void copy_rules(const Case& of);    ///< pageable memory
void kernel_rules(const Case& of);  ///< chains of elementwise kernels, unfused attention, FP32 products, layouts, tails
void optimizer_rule(const Case& of);   ///< many tiny kernels of an optimizer
void collective_rule(const Case& of);  ///< NCCL with nothing beside it
void node_rules(const Case& of);       ///< nodes of an ONNX model

/// "12.3 %".
[[nodiscard]] std::string percent_text(double share);

}  // namespace ridgeline::trace
