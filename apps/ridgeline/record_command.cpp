// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/record_command.hpp"

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <utility>

#include "base/text.hpp"
#include "campaign/profile/record_campaign.hpp"
#include "ridgeline/checked_program.hpp"
#include "ridgeline/inject_library.hpp"
#include "ridgeline/profile_output.hpp"
#include "ridgeline/python_packages.hpp"
#include "ridgeline/terminal.hpp"

namespace ridgeline::app {
namespace {

using base::ErrorCode;
using base::Result;

constexpr double kNsPerS = 1e9;

void print_note(const std::string& text) {
  const auto terminal = inspect_terminal(stderr);
  static_cast<void>(std::fputs((styled(text, Style::dim, terminal.colour) + "\n").c_str(), stderr));
}

/// Of a recording that will end before the program, or before what was asked for.
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

/// Of a second request to stop.
std::string left_text(const std::string& program) {
  return fmt::format("stopped twice: ended without a profile; {} may still be running", program);
}

/// Only a program that runs has an exit code; a shell's takes its place until then.
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

/// What of the request depends on this installation. Where that lacks something the program runs all the same.
void find_parts(const RecordFlags& recording, campaign::RecordRequest& request) {
  if (campaign::is_recorded()) {
    print_note("not recording: another ridgeline profile is recording this program");
    return;
  }
  auto library = find_inject_library();
  if (!library) {
    print_note("not recording: " + base::error_line(library.error()));
    return;
  }
  request.library = *std::move(library);
  if (recording.no_modules) return;
  auto python = python_packages();
  if (python)
    request.python_folder = *std::move(python);
  else
    print_note("not recording modules: " + base::error_line(python.error()));
}

/// The program's own output is not to be mixed with ours where something else reads it.
void leave_standard_output() {
  std::fflush(stdout);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
}

Result<std::optional<schema::ProfileRun>> show_profile(campaign::RecordCampaign& campaign, const ProfileFlags& flags) {
  const auto made = campaign.profile();
  if (!made && made.error().code == ErrorCode::unavailable) {
    auto line = base::error_line(made.error());
    if (const auto old = flags.existing_files(); !old.empty())
      line += fmt::format("; of an earlier run: {}", fmt::join(old, ", "));
    print_note(line);
    return std::nullopt;
  }
  if (!made) return tl::unexpected<base::Error>(made.error());
  if (!flags.prints_json() && ::isatty(STDOUT_FILENO) == 0) leave_standard_output();
  RL_TRY(write_profile(made->run, *made->analysed, flags));
  return made->run;
}

}  // namespace

Result<RecordedProgram> record_program(const CLI::App& given, const RecordFlags& recording, const ProfileFlags& flags,
                                       Context& context) {
  const auto command = context.program.value_or(std::vector<std::string>());
  RL_TRY(check_profile_flags(flags));
  campaign::RecordRequest request;
  RL_TRY_ASSIGN(request.options, record_options(given, recording));
  RL_TRY(check_command(command, context));
  RL_TRY_ASSIGN(auto store, context.open_store());
  request.arguments = {context.arguments.begin() + 1, context.arguments.end()};
  request.command = command;
  std::error_code ignored;
  request.directory = std::filesystem::current_path(ignored).string();
  request.trace_folder = flags.trace_folder(context);
  find_parts(recording, request);
  const bool records = !request.library.empty();
  const bool reruns = request.options.counting == campaign::Counting::rerun;
  campaign::RecordCampaign campaign(std::move(request), store);
  const auto ready = campaign.check();
  if (!ready) print_note("not recording: " + base::error_line(ready.error()));
  if (records && ready && flags.talks() && inspect_terminal(stderr).interactive)
    print_note(fmt::format("recording {}; its profile follows when it ends", command.front()));
  const auto end = campaign.run([&](const campaign::SizeWarning& warning) {
    if (!flags.quiet) print_note(size_text(warning, recording.max_size));
  });
  if (!end) {
    context.code_of_error = end.error().code == ErrorCode::not_found ? execute::kNotFound : execute::kNotExecutable;
    return tl::unexpected<base::Error>(end.error());
  }
  if (end->exit_code != 0) context.code_of_error = end->exit_code;
  if (end->signal == SIGINT || end->signal == SIGTERM || end->signal == SIGHUP) context.ending_signal = end->signal;
  RecordedProgram out{end->exit_code, std::nullopt};
  if (end->is_left) print_note(left_text(command.front()));
  if (!records || !ready || end->is_left) return out;
  if (reruns && end->signal == 0 && !end->is_interrupted && campaign.uses_gpu()) {
    if (flags.talks()) print_note(fmt::format("running {} again to count bytes", command.front()));
    campaign.count();
  }
  try {
    RL_TRY_ASSIGN(out.run, show_profile(campaign, flags));
  } catch (const std::exception& error) {
    return base::fail(ErrorCode::internal, "unexpected: {}", error.what())
        .hint("please report this with the command line");
  }
  if (end->is_interrupted) out.run.reset();
  return out;
}

}  // namespace ridgeline::app
