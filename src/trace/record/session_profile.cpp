// SPDX-License-Identifier: Apache-2.0
#include "trace/record/session_profile.hpp"

#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "base/file.hpp"
#include "base/text.hpp"
#include "trace/import/message_text.hpp"
#include "trace/record/fact_lines.hpp"

namespace ridgeline::trace {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSession = ".session";

using SessionKey = std::pair<std::int64_t, std::int64_t>;  // process, number

/// {4711, 2} of "4711.session2" and of "4711.session2_2026-11-28_10-00-00_123.json".
std::optional<SessionKey> key_of(std::string_view name) {
  const auto at = name.find(kSession);
  if (at == std::string_view::npos) return std::nullopt;
  const auto behind = name.substr(at + kSession.size());
  const auto process = base::parse_integer(name.substr(0, at), "process");
  const auto number = base::parse_integer(behind.substr(0, behind.find('_')), "session");
  if (!process || !number) return std::nullopt;
  return SessionKey(*process, *number);
}

void read_session_facts(std::string_view text, SessionProfile& out) {
  const auto number = [](std::string_view value) { return base::parse_integer(value, "facts").value_or(0); };
  each_fact(text, [&](std::string_view key, std::string_view value) {
    if (key == "model") out.model = message_text(value);
    if (key == "start_ns") out.start_ns = number(value);
    if (key == "set_by_ns") out.set_by_ns = number(value);
    if (key == "graph") out.replays_graph = value == "1";
    if (key == "why") out.why = message_text(value);
  });
}

}  // namespace

std::vector<SessionProfile> find_session_profiles(const fs::path& folder) {
  std::map<SessionKey, SessionProfile> found;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const auto key = key_of(at->path().filename().string());
    if (!key) continue;
    auto& session = found[*key];
    session.process = key->first;
    std::error_code ignored;
    if (at->path().extension() == ".json") {
      if (fs::file_size(at->path(), ignored) > 0 && !ignored) session.file = at->path();
    } else if (const auto text = base::read_file(at->path())) {
      read_session_facts(*text, session);
    }
  }
  std::vector<SessionProfile> out;
  for (auto& [key, session] : found)
    if (!session.model.empty()) out.push_back(std::move(session));
  return out;
}

}  // namespace ridgeline::trace
