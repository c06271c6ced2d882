// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "fakes/words.hpp"
#include "trace/analysis/tables.hpp"
#include "trace/findings/find_savings.hpp"
#include "unit/trace/trace_builder.hpp"

namespace ridgeline::trace {

/// As people read it.
struct FindingInWords {
  explicit FindingInWords(const schema::ProfileFinding& finding)
      : rule(finding.rule()),
        title(fakes::text_of(finding.title)),
        module(finding.module),
        line(finding.line),
        evidence(fakes::texts_of(finding.evidence)),
        saving_ns(finding.saving_ns),
        saving_share(finding.saving_share),
        computed(fakes::text_of(finding.computed)),
        advice(fakes::text_of(finding.advice)),
        code(finding.snippet) {}

  std::string rule;
  std::string title;
  std::string module;
  std::string line;
  std::vector<std::string> evidence;
  std::int64_t saving_ns = 0;
  double saving_share = 0;
  std::string computed;
  std::string advice;
  std::string code;
};

/// Traces that are made up with one fault, or none.
class PlantedTrace : public ::testing::Test, public TraceBuilder {
 protected:
  /// Kernels one behind the other, all queued in time, 20 us each.
  void busy(std::initializer_list<std::string_view> names) {
    for (const auto name : names) {
      launch(name, called_, at_, at_ + 20'000);
      called_ += 1500;
      at_ += 20'000;
    }
  }

  [[nodiscard]] std::vector<FindingInWords> findings() const {
    AnalysedTrace analysed(trace);
    analysed.kernel_bytes = kernel_bytes;
    analysed.kernel_waves = kernel_waves;
    analysed.kernel_tensor = kernel_tensor;
    const auto found = find_savings(analysed, tables_of(analysed));
    return {found.begin(), found.end()};
  }
  /// Into a copy that lives until the next call; nullptr: there is none.
  [[nodiscard]] const FindingInWords* find(std::string_view rule) {
    found_ = findings();
    const auto at = std::find_if(found_.begin(), found_.end(), [&](const auto& one) { return one.rule == rule; });
    return at == found_.end() ? nullptr : &*at;
  }

  std::vector<double> kernel_bytes;  ///< of counters; empty: there are none
  std::vector<double> kernel_waves;
  std::vector<double> kernel_tensor;
  std::int64_t called_ = 0;
  std::int64_t at_ = 10'000;

 private:
  std::vector<FindingInWords> found_;
};

using Evidence = std::vector<std::string>;

inline void expect_code(const FindingInWords& finding, std::initializer_list<std::string_view> parts) {
  EXPECT_FALSE(finding.advice.empty());
  for (const auto part : parts) EXPECT_NE(finding.code.find(part), std::string::npos) << part << "\n" << finding.code;
}

}  // namespace ridgeline::trace
