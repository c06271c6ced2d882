// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "schema/profile.hpp"
#include "trace/analysis/analysed_trace.hpp"
#include "trace/findings/frameworks.hpp"
#include "trace/findings/tally.hpp"

namespace ridgeline::trace {

inline constexpr double kLeastSaving = 0.01;  ///< of the time, before it is worth a word

/// What a finding of one kind advises, whatever was found.
struct Advice {
  schema::Message (*advice)() = nullptr;
  std::string_view snippet;
  schema::Message (*onnx_advice)() = nullptr;  ///< in a trace of ONNX Runtime; nullptr: the same
  std::string_view onnx_snippet = {};
};

/// What rules look at, and where they put what they find.
struct Case {
  const AnalysedTrace& analysed;
  const schema::ProfileTables& tables;
  std::int64_t span_ns = 0;  ///< of the GPU with the longest; without a GPU of the runs
  std::int64_t most_ns = 0;  ///< that a finding may save: of a model the median run, times their number; 0: of no limit
  schema::Message (*what_most_is)() = nullptr;  ///< how a saving of most_ns was computed
  std::int64_t busy_ns = 0;  ///< of the busiest GPU, work that overlaps once: what faster kernels may save at most
  Frameworks frameworks;
  std::vector<schema::ProfileFinding>& found;
  std::vector<bool>& counted_gaps;  ///< of AnalysedTrace::gaps: a finding has them, and no other counts them again

  /// Fills in what to do, in words of the framework that ran, in the finding's module if it has one.
  void advise(schema::ProfileFinding& finding, const Advice& kind) const;
  /// Adds the finding, with its saving's share of `of_ns` (0: of span_ns), where that is at least `least`; returns
  /// whether.
  bool add(schema::ProfileFinding finding, double least = kLeastSaving, std::int64_t of_ns = 0) const;
  /// Likewise of a tally, unless it is empty: with its module and evidence, and a line about bytes where `bytes` is
  /// one.
  void add(const Tally& tally, const Advice& kind, schema::Message title, schema::Message computed,
           schema::Message bytes = {}, double least = kLeastSaving) const;
  /// The same of kernels, which may overlap.
  void add_kernels(const Tally& tally, const Advice& kind, schema::Message title, schema::Message computed,
                   schema::Message bytes = {}, double least = kLeastSaving) const;
};

/// The path of the module whose operation launched work that is placed in `row` of the tree; "" where none is known.
[[nodiscard]] std::string module_of_work(const AnalysedTrace& analysed, Place row);

void copy_rules(const Case& of);  ///< between host and GPU
/// Runs of kernels that wait for memory, unfused attention, products in FP32 and TF32, layouts, tails.
void kernel_rules(const Case& of);
void optimizer_rule(const Case& of);  ///< many tiny kernels of an optimizer, and the gaps between them
/// Launches, work of the host, waits, data loading, allocation, compilation; behind the rules that count gaps.
void idle_rules(const Case& of);
void collective_rule(const Case& of);  ///< communication with nothing beside it
void node_rules(const Case& of);       ///< nodes of an ONNX model

}  // namespace ridgeline::trace
