// SPDX-License-Identifier: Apache-2.0
#include "doctor/doctor_report.hpp"

#include <algorithm>

namespace ridgeline::doctor {

CheckStatus DoctorReport::worst() const noexcept {
  auto worst = CheckStatus::ok;
  for (const auto& check : checks)
    if (check.status != CheckStatus::skipped) worst = std::max(worst, check.status);
  return worst;
}

std::size_t DoctorReport::count(CheckStatus status) const noexcept {
  return static_cast<std::size_t>(
      std::count_if(checks.begin(), checks.end(), [status](const Check& check) { return check.status == status; }));
}

int DoctorReport::exit_code() const noexcept {
  switch (worst()) {
    case CheckStatus::fail: return 3;
    case CheckStatus::warn: return 1;
    default: return 0;
  }
}

void to_json(base::Json& out, const DoctorReport& report) {
  base::Json counts = base::Json::object();
  for (const auto& [status, name] : base::EnumNames<CheckStatus>::names) counts[name] = report.count(status);
  out = {{"schema_version", report.schema_version},
         {"ridgeline_version", report.ridgeline_version},
         {"utc", report.utc},
         {"hostname", report.hostname},
         {"os", report.os},
         {"status", base::enum_name(report.worst())},
         {"exit_code", report.exit_code()},
         {"counts", counts},
         {"checks", report.checks}};
}

}  // namespace ridgeline::doctor
