// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "doctor/check.hpp"
#include "doctor/facts.hpp"

namespace ridgeline::doctor {

/// Everything that `ridgeline doctor` found; its JSON form, with words, is what `--json` prints.
struct DoctorReport {
  int schema_version = 3;  ///< grows when a field changes its meaning; new fields and checks do not count
  std::string ridgeline_version;
  std::string utc;
  std::string hostname;
  std::string os;
  std::vector<Check> checks;  ///< by group, in order
  std::vector<FoundRuntimeFacts> runtimes;

  /// skipped counts as ok.
  [[nodiscard]] CheckStatus worst() const noexcept;
  [[nodiscard]] std::size_t count(CheckStatus status) const noexcept;
  /// 0: all ok; 1: warnings; 3: failures.
  [[nodiscard]] int exit_code() const noexcept;
};

/// With "status" and "counts" beside the fields.
void to_json(base::Json& out, const DoctorReport& report);

}  // namespace ridgeline::doctor
