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

Result<std::vector<std::string>> NsysTables::versions(const std::string& base) {
  std::vector<std::pair<int, std::string>> found;
  for (const auto& name : names_) {
    const auto [plain, version] = name_and_version(name);
    if (plain == base) found.emplace_back(version, name);
  }
  std::sort(found.rbegin(), found.rend());
  std::vector<std::string> out;
  for (auto& [version, name] : found) {
    RL_TRY_ASSIGN(const auto rows, found.size() > 1 ? file_->rows(name) : Result<std::int64_t>(1));
    if (rows > 0) out.push_back(std::move(name));
  }
  read_.insert(out.begin(), out.end());
  return out;
}

/// Tables of threads (OpenACC's calls) and of faults name a device, too.
bool NsysTables::is_work(const std::string& name) const {
  const auto has = [&](const char* column) { return file_->has_column(name, column); };
  const auto is_called = [&](const char* part) { return name.find(part) != std::string::npos; };
  if (!has("start") || !has("end")) return false;
  if (is_called("WORKLOAD")) return true;
  return (has("deviceId") || has("streamId") || has("gpuId")) && !has("globalTid") && !is_called("PAGE_FAULT");
}

Result<std::vector<std::string>> NsysTables::unread() const {
  std::vector<std::string> out;
  for (const auto& name : names_) {
    if (read_.count(name) > 0 || !is_work(name)) continue;
    RL_TRY_ASSIGN(const auto rows, file_->rows(name));
    if (rows > 0) out.push_back(fmt::format("{} ({} row{})", message_text(name), rows, rows == 1 ? "" : "s"));
  }
  return out;
}

}  // namespace ridgeline::trace
