// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/apply_changes.hpp"

#include <algorithm>
#include <filesystem>
#include <iostream>

#include "base/clock.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "campaign/recommendation.hpp"

namespace ridgeline::app {
namespace {

std::string coloured_diff(std::string_view diff, bool colour) {
  std::string out;
  for (const auto& line : base::split(diff, '\n')) {
    if (line.empty()) continue;
    const bool header = line.rfind("---", 0) == 0 || line.rfind("+++", 0) == 0;
    const Style style = header ? Style::bold : line[0] == '+' ? Style::good : line[0] == '-' ? Style::bad : Style::dim;
    out += (line[0] == ' ' ? line : styled(line, style, colour)) + "\n";
  }
  return out;
}

std::string without_comment(const config::PatchResult& patch) {
  std::string keys;
  for (const auto& edit : patch.edits)
    if (!edit.commented) keys += (keys.empty() ? "" : ", ") + edit.key;
  return keys;
}

bool agreed(const std::string& file) {
  fmt::print("write this to {}? [Y/n] ", file);
  std::fflush(stdout);
  std::string answer;
  if (!std::getline(std::cin, answer)) return false;
  const auto word = base::trim(answer);
  return word.empty() || word == "y" || word == "Y" || word == "yes";
}

}  // namespace

base::Result<void> apply_recommendation(const schema::TuneRun& run, ApplyRequest request, const Terminal& terminal) {
  const auto say = [&](const std::string& text) {
    if (!request.quiet) fmt::print(request.out, "{}", text);
  };
  if (!run.verdict || run.verdict->decision != schema::Decision::change) {
    say(fmt::format("{}: not touched\n", request.file));
    return {};
  }
  if (request.provenance)
    request.patch.provenance = fmt::format("ridgeline {} trial {}", run.id, run.verdict->trial_id);
  RL_TRY_ASSIGN(const auto text, base::read_file(request.file));
  RL_TRY_ASSIGN(const auto found, config::read_settings(text, request.file, request.patch));
  schema::Configuration in_file;
  for (const auto& setting : found) in_file.set(setting.key, setting.value);
  const auto current = campaign::as_seen_by(run, in_file);
  const auto wanted = campaign::settings_to_write(run, current);
  const auto keys = campaign::settings_to_remove(run, current);
  auto left = found;
  std::erase_if(left, [&](const auto& one) { return std::find(keys.begin(), keys.end(), one.key) == keys.end(); });
  tell_removals(request, left, "the recommendation");
  if (!wanted.empty() && current != campaign::as_seen_by(run, run.current))
    say(fmt::format("note: the run compared with {}, but {} has {}: how much faster it gets was not measured\n",
                    run.current.to_text(), request.file, current.to_text()));
  RL_TRY_ASSIGN(const auto patch, config::patch_settings(text, request.file, wanted, request.patch));
  const auto write = [&] {
    return config::apply_patch(request.file, wanted, request.patch, base::system_clock().utc_now());
  };
  return apply_change(request, text, patch, write, fmt::format("ridgeline apply {} --config {}", run.id, request.file),
                      terminal);
}

void tell_removals(const ApplyRequest& request, const std::vector<config::FoundSetting>& settings,
                   std::string_view who) {
  if (request.quiet) return;
  for (const auto& setting : settings)
    fmt::print(request.out,
               "{}: remove {}: {} by hand: {} leaves it at the runtime's own default, which cannot be written out\n",
               request.file, setting.path, setting.value.to_text(), who);
}

base::Result<std::string> read_apply_file(const std::string& file, bool dry_run, const std::string& next) {
  std::error_code error;
  if (std::filesystem::symlink_status(file, error).type() == std::filesystem::file_type::not_found)
    return base::fail(base::ErrorCode::not_found, "{}: no such file; {}", file, next);
  if (!dry_run) RL_TRY(config::check_patchable(file));
  return base::read_file(file);
}

base::Result<void> apply_change(const ApplyRequest& request, const std::string& text, const config::PatchResult& patch,
                                const WriteChange& write, const std::string& later, const Terminal& terminal) {
  const auto say = [&](const std::string& line) {
    if (!request.quiet) fmt::print(request.out, "{}", line);
  };
  if (patch.edits.empty()) {
    say(fmt::format("{}: already holds the recommended values\n", request.file));
    return {};
  }
  say(coloured_diff(config::unified_diff(text, patch.text, request.file), terminal.colour));
  if (request.provenance)
    if (const auto keys = without_comment(patch); !keys.empty())
      say(fmt::format(
          "note: --provenance: no comment behind {}: there is no place for one in a {{flow mapping}} or where "
          "another comment stands; the diff is whole without it\n",
          keys));
  if (request.mode == ApplyMode::dry_run) {
    say(fmt::format("{}: not written (--dry-run)\n", request.file));
    return {};
  }
  const bool on_terminal = can_ask();
  if (request.mode == ApplyMode::ask && !on_terminal) {
    say(fmt::format("{}: not touched; to write it: {}  (or give --apply next time)\n", request.file, later));
    return {};
  }
  if (request.mode != ApplyMode::apply && on_terminal && !agreed(request.file)) {
    say(fmt::format("{}: not touched; later: {}\n", request.file, later));
    return {};
  }
  RL_TRY_ASSIGN(const auto applied, write());
  say(fmt::format("{}: {} value{} changed, backup {}; undo: ridgeline rollback --config {}\n", request.file,
                  applied.patch.edits.size(), applied.patch.edits.size() == 1 ? "" : "s",
                  applied.backup.filename().string(), request.file));
  return {};
}

}  // namespace ridgeline::app
