// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/idle_command.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "base/cancel.hpp"
#include "base/clock.hpp"
#include "base/text.hpp"
#include "campaign/profile/record_campaign.hpp"
#include "campaign/profile/record_environment.hpp"
#include "execute/attached_command.hpp"
#include "execute/idle_recorder.hpp"
#include "ridgeline/inject_library.hpp"
#include "ridgeline/python_packages.hpp"
#include "ridgeline/record_output.hpp"
#include "ridgeline/terminal.hpp"

namespace ridgeline::app {

using base::ErrorCode;
using base::Result;

namespace {

constexpr double kDefaultDurationS = 5;
constexpr double kStepsLimitS = 60;  // a process that makes no steps is not recorded for ever

Result<campaign::RecordEnvironment> find_environment(const RecordFlags& recording) {
  RL_TRY_ASSIGN(const auto library, find_inject_library());
  RL_TRY_ASSIGN(const auto folder, execute::make_idle_folder());
  std::string python;
  if (!recording.no_modules) {
    RL_TRY_ASSIGN(python, python_packages());
  }
  return campaign::idle_environment(folder, library, python);
}

std::string not_recordable(const std::string& variable, const std::string& library, const std::string& what) {
  return fmt::format("{} is set to {} and kept: {} cannot be recorded", variable, library, what);
}

}  // namespace

Result<int> start_idle(const RecordFlags& recording, Context& context) {
  const auto command = context.program.value_or(std::vector<std::string>());
  RL_TRY(check_command(command, context));
  if (campaign::is_recorded()) {
    print_note("no idle recorder: another ridgeline profile is recording this program");
  } else {
    RL_TRY_ASSIGN(const auto environment, find_environment(recording));
    if (const auto& other = environment.other_injection; !other.empty())
      print_note(not_recordable("CUDA_INJECTION64_PATH", other, "GPU work"));
    if (const auto& other = environment.other_nvtx_injection; !other.empty())
      print_note(not_recordable("NVTX_INJECTION64_PATH", other, "NVTX ranges"));
    for (const auto& [name, value] : environment.variables) ::setenv(name.c_str(), value.c_str(), 1);
  }
  std::vector<char*> words;
  for (const auto& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  base::restore_cancel_signals();
  ::execvp(words.front(), words.data());
  context.code_of_error = errno == ENOENT ? execute::kNotFound : execute::kNotExecutable;
  return base::fail(ErrorCode::io, "program {}: {}", command.front(), std::strerror(errno));
}

Result<int> print_idle_environment(const RecordFlags& recording) {
  RL_TRY_ASSIGN(const auto environment, find_environment(recording));
  for (const auto& [name, value] : environment.variables) fmt::print("{}={}\n", name, value);
  return kOk;
}

Result<int> record_process(const CLI::App& given, const RecordFlags& recording, const ProfileFlags& flags,
                           Context& context) {
  RL_TRY(check_profile_flags(flags));
  campaign::RecordRequest request;
  RL_TRY_ASSIGN(request.options, record_options(given, recording));
  auto& options = request.options;
  options.of_running = true;
  if (given.count("--counters") == 0) options.counting = campaign::Counting::none;
  if (!options.duration_s) options.duration_s = options.steps ? kStepsLimitS : kDefaultDurationS;
  RL_TRY_ASSIGN(const auto recorder, execute::IdleRecorder::find(*recording.pid));
  RL_TRY_ASSIGN(request.library, find_inject_library());
  if (const auto python = python_packages()) request.python_folder = *python;
  RL_TRY_ASSIGN(auto store, context.open_store());
  request.arguments = {context.arguments.begin() + 1, context.arguments.end()};
  request.command = recorder.command();
  request.directory = recorder.directory();
  request.trace_folder = flags.trace_folder(context);
  campaign::RecordCampaign campaign(std::move(request), store);
  RL_TRY(campaign.check());
  if (flags.talks() && inspect_terminal(stderr).interactive)
    print_note(
        fmt::format("recording process {} ({}), {}at most {}; Ctrl-C ends the recording, not the process",
                    recorder.pid(), recorder.command().empty() ? "" : recorder.command().front(),
                    options.steps ? fmt::format("{} steps, ", *options.steps) : "",
                    base::format_duration(static_cast<double>(base::from_seconds(*options.duration_s).count()))));
  RL_TRY_ASSIGN(const auto end, campaign.wake(recorder, [&](const campaign::SizeWarning& warning) {
    if (!flags.quiet) print_note(size_text(warning, recording.max_size));
  }));
  RL_TRY_ASSIGN(const auto run, show_recorded(campaign, flags, false));
  if (end.is_interrupted) return kCancelled;
  return run ? kOk : kNoAnswer;
}

}  // namespace ridgeline::app
