// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workload/workload.hpp"

namespace ridgeline::workload {

/// Gathers how outputs that change from call to call scatter: the mean of each value over some calls, and statistics of
/// each of others, some of them against these means. A trial's calls are then to the means what these others are.
class SpreadCollector {
 public:
  /// `varying`: places in `first`, which is any call's.
  SpreadCollector(const OutputSet& first, std::vector<std::size_t> varying);

  /// A call that the means are of; all of them before the first add_call.
  void add_centre(const OutputSet& outputs);
  void add_call(const OutputSet& outputs);

  /// Sets the spread of what varies.
  void write_to(OutputSet& reference) const;
  /// Of what varies, each once.
  [[nodiscard]] std::vector<std::string> names() const;
  /// "output "y" grows from 3 to 18 elements over 16 calls": of what goes one way in all calls; "" where nothing
  /// does. With kLeastCalls of each kind, chance hardly ever looks like it.
  [[nodiscard]] schema::Message trend() const;
  /// The name of an output without numbers; "" where there is none.
  [[nodiscard]] std::string unjudged() const;

  static constexpr std::int64_t kLeastCalls = 8;

 private:
  struct Varying {
    std::size_t at = 0;
    std::string name;
    bool has_numbers = true;
    bool fixed_size = true;
    std::vector<double> sum;
    std::vector<double> centre_calls;  ///< statistics of the calls that the means are of
    OutputSpread spread;
  };
  void finish_centre();

  std::vector<Varying> varying_;
  std::int64_t centre_count_ = 0;
  bool centre_done_ = false;
};

/// Compares the calls of a trial with the spread of a reference.
class SpreadComparison {
 public:
  explicit SpreadComparison(const OutputSet& reference);
  /// Calls that it wants; 0: nothing of the reference changes from call to call.
  [[nodiscard]] std::int64_t calls() const noexcept { return calls_; }
  void add(const OutputSet& outputs);
  /// Unset without calls.
  [[nodiscard]] std::optional<schema::SpreadError> worst() const;

 private:
  const OutputSet* reference_;
  std::int64_t calls_ = 0;
  std::vector<std::vector<double>> found_;  ///< of each output, as OutputSpread::calls
};

/// As repeat_rows changes the outputs.
void repeat_spread(OutputSpread& spread, double times);

}  // namespace ridgeline::workload
