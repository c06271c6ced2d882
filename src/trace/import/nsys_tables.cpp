// SPDX-License-Identifier: Apache-2.0
#include "trace/import/nsys_tables.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "trace/import/message_text.hpp"

namespace ridgeline::trace {
namespace {

using base::Result;

/// "NVTX_EVENTS_V2": its name, and 2; 1 of a name without a version.
std::pair<std::string_view, int> name_and_version(std::string_view name) {
  const auto at = name.rfind("_V");
  if (at == std::string_view::npos) return {name, 1};
  int version = 0;
  const auto digits = name.substr(at + 2);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), version);
  if (error != std::errc() || end != digits.data() + digits.size()) return {name, 1};
  return {name.substr(0, at), version};
}

}  // namespace

Result<NsysTables> NsysTables::of(const SqliteFile& file) {
  RL_TRY_ASSIGN(auto names, file.tables());
  return NsysTables(file, std::move(names));
}

Result<std::string> NsysTables::newest(const std::string& base) {
  asked_.insert(base);
  std::vector<std::pair<int, std::string>> versions;
  for (const auto& name : names_)
    if (const auto [plain, version] = name_and_version(name); plain == base) versions.emplace_back(version, name);
  std::sort(versions.rbegin(), versions.rend());
  std::string newest = base;
  for (const auto& [version, name] : versions) {
    RL_TRY_ASSIGN(const auto rows, versions.size() > 1 ? file_->rows(name) : Result<std::int64_t>(1));
    if (rows == 0) continue;
    newest = name;
    break;
  }
  read_.insert(newest);
  return newest;
}

bool NsysTables::is_candidate(const std::string& name) const {
  if (read_.count(name) > 0) return false;
  if (asked_.count(std::string(name_and_version(name).first)) > 0) return true;
  const auto has = [&](const char* column) { return file_->has_column(name, column); };
  return has("start") && has("end") &&
         (has("deviceId") || has("streamId") || has("gpuId") || name.find("WORKLOAD") != std::string::npos);
}

Result<std::vector<std::string>> NsysTables::unread() const {
  std::vector<std::string> out;
  for (const auto& name : names_) {
    if (!is_candidate(name)) continue;
    RL_TRY_ASSIGN(const auto rows, file_->rows(name));
    if (rows > 0) out.push_back(fmt::format("{} ({} row{})", message_text(name), rows, rows == 1 ? "" : "s"));
  }
  return out;
}

}  // namespace ridgeline::trace
