// SPDX-License-Identifier: Apache-2.0
#include "doctor/doctor_report.hpp"

#include <algorithm>

#include "base/exit_code.hpp"
#include "schema/error_message.hpp"

namespace ridgeline::doctor {
namespace {

base::Json runtime_json(const FoundRuntimeFacts& one) {
  const auto identity = one.identity.value_or(schema::RuntimeIdentity{});
  return {{"path", one.identity ? identity.library_path : one.found.library_path},
          {"version", one.identity ? identity.version : one.found.version},
          {"from", one.found.place},
          {"packages", one.found.packages},
          {"providers", identity.providers},
          {"provider_notes", identity.provider_notes},
          {"plugins", one.identity ? identity.plugins : one.found.plugins},
          {"taken", one.taken},
          {"problem", one.identity ? one.found.conflict() : schema::message_of(one.error)}};
}

}  // namespace

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
    case CheckStatus::fail: return base::kFailures;
    case CheckStatus::warn: return base::kFinding;
    default: return base::kOk;
  }
}

void to_json(base::Json& out, const DoctorReport& report) {
  base::Json counts = base::Json::object();
  for (const auto& [status, name] : base::EnumNames<CheckStatus>::names) counts[name] = report.count(status);
  auto runtimes = base::Json::array();
  for (const auto& one : report.runtimes) runtimes.push_back(runtime_json(one));
  out = {{"schema_version", report.schema_version},
         {"ridgeline_version", report.ridgeline_version},
         {"utc", report.utc},
         {"hostname", report.hostname},
         {"os", report.os},
         {"status", base::enum_name(report.worst())},
         {"exit_code", report.exit_code()},
         {"counts", counts},
         {"checks", report.checks},
         {"runtimes", runtimes}};
}

}  // namespace ridgeline::doctor
