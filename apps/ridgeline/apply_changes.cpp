// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/apply_changes.hpp"

#include <algorithm>
#include <filesystem>
#include <iostream>

#include "base/clock.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "campaign/tune/tune_kind.hpp"

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

bool agreed(const ApplyRequest& request, std::size_t values) {
  fmt::print("Write {} value{}{} to {}? [y/N] ", values, values == 1 ? "" : "s",
             request.gain.empty() ? "" : fmt::format(" ({})", request.gain), request.file);
  std::fflush(stdout);
  std::string answer;
  if (!std::getline(std::cin, answer)) return false;
  const auto word = base::trim(answer);
  return word == "y" || word == "Y" || word == "yes";
}

}  // namespace

base::Result<void> apply_recommendation(const schema::TuneRun& run, ApplyRequest request, const Terminal& terminal) {
  if (!run.verdict || run.verdict->decision != schema::Decision::change) {
    if (!request.quiet) fmt::print(request.out, "{}: not touched\n", request.file);
    return {};
  }
  RL_TRY_ASSIGN(const auto text, base::read_file(request.file));
  const auto change = campaign::tune_change(run, text, {request.file, request.patch, request.provenance, {}});
  if (!change && request.mode == ApplyMode::ask) {
    if (!request.quiet) fmt::print(request.out, "not applied: {}\n", base::error_line(change.error()));
    return {};
  }
  if (!change) return tl::unexpected(change.error());
  return apply_known(*change, request, text,
                     fmt::format("ridgeline apply {} --config {}{}", run.id, request.file, request.later), terminal);
}

base::Result<void> apply_known(const run::Change& change, const ApplyRequest& request, const std::string& text,
                               const std::string& later, const Terminal& terminal) {
  const auto say = [&](const std::vector<std::string>& lines) {
    for (const auto& line : lines)
      if (!request.quiet) fmt::print(request.out, "{}\n", line);
  };
  say(change.before);
  if (change.keeps) {
    say({request.file + ": not touched"});
    return {};
  }
  RL_TRY(apply_change(
      request, text, change.patch, [&] { return change.write(base::system_clock().utc_now()); }, later, terminal));
  say(change.after);
  return {};
}

void tell_removals(const ApplyRequest& request, const std::vector<config::FoundSetting>& settings,
                   std::string_view who) {
  if (request.quiet) return;
  for (const auto& setting : settings)
    fmt::print(request.out, "{}\n", campaign::removal_text(request.file, setting, who));
}

base::Result<std::string> read_apply_file(const std::string& file, bool dry_run, const std::string& next) {
  std::error_code error;
  if (std::filesystem::symlink_status(file, error).type() == std::filesystem::file_type::not_found)
    return base::fail(base::ErrorCode::not_found, "{}: no such file", file).hint("{}", next);
  if (!dry_run) RL_TRY(config::check_patchable(file));
  return base::read_file(file);
}

base::Result<void> apply_change(const ApplyRequest& request, const std::string& text, const config::PatchResult& patch,
                                const WriteChange& write, const std::string& later, const Terminal& terminal) {
  const auto say = [&](const std::string& line) {
    if (!request.quiet) fmt::print(request.out, "{}", line);
  };
  // In a file a line stays one, for who searches it.
  const auto say_sentence = [&](const std::string& sentence) {
    say((terminal.interactive ? wrapped(sentence, terminal.width - 2, 2) : sentence) + "\n");
  };
  if (patch.edits.empty()) {
    say(fmt::format("{}: already has the recommended values\n", request.file));
    return {};
  }
  say(coloured_diff(config::unified_diff(text, patch.text, request.file), terminal.colour));
  if (request.provenance)
    if (const auto keys = without_comment(patch); !keys.empty())
      say(
          fmt::format("note: --provenance: no comment added to {}: a {{flow mapping}} or a line with another comment "
                      "has no room for one; the diff is complete without it\n",
                      keys));
  if (request.mode == ApplyMode::dry_run) {
    say(fmt::format("{}: not written (--dry-run)\n", request.file));
    return {};
  }
  const bool on_terminal = can_ask();
  if (request.mode == ApplyMode::ask && !on_terminal) {
    say(fmt::format("{}: not touched; to write it: {} --yes  (there is no terminal to ask on)\n", request.file, later));
    return {};
  }
  if (request.mode == ApplyMode::ask && !agreed(request, patch.edits.size())) {
    say(fmt::format("{}: not touched; to write it later:\n  {}\n", request.file, later));
    return {};
  }
  RL_TRY_ASSIGN(const auto applied, write());
  say_sentence(fmt::format("{}: {} value{} changed, backup {}; undo: ridgeline rollback --config {}", request.file,
                           applied.patch.edits.size(), applied.patch.edits.size() == 1 ? "" : "s",
                           config::backup_text(request.file, applied.backup), request.file));
  return {};
}

}  // namespace ridgeline::app
