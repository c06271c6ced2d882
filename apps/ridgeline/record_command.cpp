// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/record_command.hpp"

#include <csignal>
#include <exception>
#include <filesystem>
#include <utility>

#include "campaign/profile/record_campaign.hpp"
#include "ridgeline/inject_library.hpp"
#include "ridgeline/python_packages.hpp"
#include "ridgeline/record_output.hpp"
#include "ridgeline/terminal.hpp"

namespace ridgeline::app {
namespace {

using base::ErrorCode;
using base::Result;

/// Of a second request to stop.
std::string left_text(const std::string& program) {
  return fmt::format("stopped twice: ended without a profile; {} may still be running", program);
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
    RL_TRY_ASSIGN(out.run, show_recorded(campaign, flags, true));
  } catch (const std::exception& error) {
    return base::fail(ErrorCode::internal, "unexpected: {}", error.what())
        .hint("please report this with the command line");
  }
  if (end->is_interrupted) out.run.reset();
  return out;
}

}  // namespace ridgeline::app
