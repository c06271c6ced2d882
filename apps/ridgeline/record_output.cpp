// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/record_output.hpp"

#include <unistd.h>

#include <cstdio>

#include <fmt/ranges.h>

#include "base/text.hpp"
#include "execute/attached_command.hpp"
#include "ridgeline/checked_program.hpp"
#include "ridgeline/profile_output.hpp"
#include "ridgeline/terminal.hpp"

namespace ridgeline::app {

using base::ErrorCode;
using base::Result;

namespace {

constexpr double kNsPerS = 1e9;

/// The program's own output is not to be mixed with ours where something else reads it.
void leave_standard_output() {
  std::fflush(stdout);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
}

}  // namespace

void print_note(const std::string& text) {
  const auto terminal = inspect_terminal(stderr);
  static_cast<void>(std::fputs((styled(text, Style::dim, terminal.colour) + "\n").c_str(), stderr));
}

std::string size_text(const campaign::SizeWarning& warning, const std::string& max_size) {
  const auto bytes = [](double count) { return base::format_bytes(count); };
  if (warning.of_events)
    return fmt::format(
        "the recording has {} and grows by {}/s: it ends in {}, with as many events as this machine has memory to "
        "read; give {} to record less",
        bytes(warning.bytes), bytes(warning.bytes_per_s), base::format_duration(warning.seconds.value_or(0) * kNsPerS),
        warning.in_all ? "fewer --steps or a shorter --duration" : "--steps or --duration");
  if (warning.in_all)
    return fmt::format(
        "the recording grows by {}/s and would reach {}, more than --max-size {}; give fewer --steps, a shorter "
        "--duration, or a larger --max-size",
        bytes(warning.bytes_per_s), bytes(*warning.in_all), max_size);
  return fmt::format(
      "the recording has {} and grows by {}/s: --max-size {} ends it in {}; give --steps or --duration to record less, "
      "or a larger --max-size",
      bytes(warning.bytes), bytes(warning.bytes_per_s), max_size,
      base::format_duration(warning.seconds.value_or(0) * kNsPerS));
}

Result<void> check_command(const std::vector<std::string>& command, Context& context) {
  if (command.empty())
    return base::fail(ErrorCode::invalid_argument, "no command after --")
        .hint("add one, for example: ridgeline profile -- python train.py");
  if (command.front().empty()) return base::fail(ErrorCode::invalid_argument, "the command's program is empty");
  const int code = execute::start_code(command.front());
  if (code == 0) return {};
  context.code_of_error = code;
  return check_program(command.front());
}

Result<std::optional<schema::ProfileRun>> show_recorded(campaign::RecordCampaign& campaign, const ProfileFlags& flags,
                                                        bool shares_output) {
  const auto made = campaign.profile();
  if (!made && made.error().code == ErrorCode::unavailable) {
    auto line = base::error_line(made.error());
    if (const auto old = flags.existing_files(); !old.empty())
      line += fmt::format("; of an earlier run: {}", fmt::join(old, ", "));
    print_note(line);
    return std::nullopt;
  }
  if (!made) return tl::unexpected<base::Error>(made.error());
  if (shares_output && !flags.prints_json() && ::isatty(STDOUT_FILENO) == 0) leave_standard_output();
  RL_TRY(write_profile(made->run, *made->analysed, flags));
  return made->run;
}

}  // namespace ridgeline::app
