// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "schema/profile.hpp"
#include "trace/analysis/pauses.hpp"
#include "trace/analysis/places.hpp"
#include "tracefile/string_table.hpp"

namespace ridgeline::trace {

/// What a rule found in a trace: how often, in which modules, of which kernels, copies or nodes, and what it costs.
/// Times in nanoseconds, sums over the whole trace.
class Tally {
 public:
  explicit Tally(const StringTable& strings) : strings_(strings) {}

  /// One case in a module, "" where none is known: its time, how much of it can be saved, and the GPU that took it.
  void add(const std::string& module, std::int64_t saving_ns, std::int64_t time_ns, ProcessDevice device = {});
  /// A kernel, a copy or a node of such a case.
  void add_row(NameId name, std::int64_t time_ns);
  /// The Python line that launched it; "": unknown.
  void add_line(std::string_view line);
  /// Bytes that need not move; NaN and negative numbers are unknown, and left out.
  void add_bytes(double bytes);

  [[nodiscard]] std::int64_t count() const noexcept { return count_; }
  [[nodiscard]] std::int64_t saving_ns() const noexcept { return saving_ns_; }
  /// GPUs work at the same time: a program saves no more than the one on which most can be saved.
  [[nodiscard]] std::int64_t saving_on_one_ns() const;
  [[nodiscard]] std::int64_t time_ns() const noexcept { return time_ns_; }
  [[nodiscard]] double bytes() const noexcept { return bytes_; }  ///< 0: unknown

  /// Fills in the saving on one GPU, the module with most of it, the line if all have the same, and evidence: up to
  /// three modules and three rows. Evidence is of one of `runs` runs, as people think of a model.
  void tell(schema::ProfileFinding& finding, std::int64_t runs = 1) const;

 private:
  struct Row {
    std::int64_t count = 0;
    std::int64_t time_ns = 0;
  };
  const StringTable& strings_;
  std::int64_t saving_ns_ = 0;
  std::map<ProcessDevice, std::int64_t> saving_by_gpu_;
  std::int64_t time_ns_ = 0;
  std::int64_t count_ = 0;
  double bytes_ = 0;
  Places modules_;
  std::optional<std::string_view> line_;  ///< of all so far; "": they have several
  std::unordered_map<NameId, Row> rows_;
};

/// Bytes that need not move, as a profiler counted them; empty: unknown.
[[nodiscard]] schema::Message measured_bytes(const Tally& tally);

}  // namespace ridgeline::trace
