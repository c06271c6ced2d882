// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/record_flags.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.hpp"
#include "campaign/profile/record_campaign.hpp"
#include "ridgeline/flag_values.hpp"
#include "ridgeline/verify_flags.hpp"

namespace ridgeline::app {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

constexpr const char* kGroup = "Recording";
constexpr const char* kProfilerApi = "cudaProfilerApi";  // as nsys has it
constexpr std::int64_t kLeastBytes = 1'000'000;
constexpr std::int64_t kProcesses = 4;  // that may share the memory; how many a program has is not known before

/// Options that choose the same thing in two ways.
constexpr std::array<std::pair<const char*, const char*>, 4> kExclusive{{{"--warmup-steps", "--delay"},
                                                                         {"--warmup-steps", "--duration"},
                                                                         {"--steps", "--delay"},
                                                                         {"--steps", "--duration"}}};

/// "--duration 2m", as it was typed; "" where it was not given.
std::string given(const CLI::App& command, const Context& context, const std::string& name) {
  const auto* option = command.get_option_no_throw(name);
  if (option == nullptr || option->count() == 0) return {};
  if (option->get_items_expected_max() == 0) return name;
  const auto& all = context.arguments;
  const auto end = std::find(all.begin(), all.end(), "--");  // what follows is the program's
  for (auto at = all.begin(); at != end; ++at) {
    if (at->starts_with(name + "=")) return name + " " + at->substr(name.size() + 1);
    if (*at == name && at + 1 != end) return name + " " + *(at + 1);
  }
  return fmt::format("{} {}", name, fmt::join(option->results(), " "));  // from a file of options
}

}  // namespace

bool is_shared_option(const CLI::Option& option) {
  constexpr std::array<std::string_view, 4> kGroups{"Display", "Output", "Options", kVerifyGroup};
  return std::find(kGroups.begin(), kGroups.end(), option.get_group()) != kGroups.end();
}

void add_record_flags(CLI::App& command, Context& context, RecordFlags& flags) {
  command.option_defaults()->group(kGroup);
  command.add_option("--range", flags.range, "Record only while an NVTX range or module NAME runs")->type_name("NAME");
  add_choice(command, context, "--capture-range", flags.capture_range, {kProfilerApi},
             "Record only between calls of cudaProfilerStart and cudaProfilerStop");
  add_number(command, "--warmup-steps", flags.warmup_steps, 0, kAnyNumber, "Steps to leave out before recording");
  add_number(command, "--steps", flags.steps, 1, kAnyNumber, "Steps to record, then stop recording");
  add_time(command, "--delay", flags.delay_s, "Time from the start of the program until recording begins");
  add_time(command, "--duration", flags.duration_s, "Time to record, then stop recording");
  command.add_option("--max-size", flags.max_size, "Maximum size of the recording, per process")
      ->type_name("SIZE")
      ->capture_default_str();
  add_choice(command, context, "--counters", flags.counters, {"window", "rerun", "none"},
             "Count the bytes of kernels in a step of the run or in a second run; given explicitly, window also counts "
             "concurrent kernels");
  command.add_flag("--lines", flags.lines, "Record the Python line of each kernel launch, copy and wait for the GPU");
  command.add_flag("--no-modules", flags.no_modules, "Do not record the modules and steps of Python programs");
  command.add_flag("--idle", flags.idle,
                   "Start the program with a recorder that waits for --pid, and record nothing yet");
  add_number(command, "--pid", flags.pid, 1, kAnyNumber,
             "Record a running process that was started with --idle (default: for 5 s)");
  command.add_flag("--environment", flags.environment,
                   "Print the variables that --idle sets, for a service that something else starts");
}

RecordMode record_mode(const RecordFlags& flags, const Context& context) {
  if (flags.environment) return RecordMode::environment;
  if (flags.pid) return RecordMode::process;
  if (!context.program) return RecordMode::none;
  return flags.idle ? RecordMode::idle : RecordMode::program;
}

namespace {

/// The one option that --idle and --environment know, as they record nothing.
Result<void> check_idle_flags(const CLI::App& command, const Context& context, RecordMode mode) {
  const auto* const own = mode == RecordMode::idle ? "--idle" : "--environment";
  if (mode == RecordMode::environment && context.program)
    return fail(ErrorCode::invalid_argument, "--environment with a command after --: expected one of the two")
        .hint("ridgeline profile --idle -- COMMAND starts it in that environment");
  for (const auto* option : command.get_options()) {
    const auto& name = option->get_name();
    if (option->count() == 0 || name == own || name == "--no-modules") continue;
    if (name == "--idle" || name == "--environment" || name == "--pid")
      return fail(ErrorCode::invalid_argument, "{} and {} exclude each other", given(command, context, name), own)
          .hint("give one");
    return fail(ErrorCode::invalid_argument, "{} with {}: nothing is recorded yet", given(command, context, name), own)
        .hint("give it to the recording: ridgeline profile --pid PID {}", given(command, context, name));
  }
  return {};
}

/// What only the start of a program can choose, and --pid cannot.
Result<void> check_process_flags(const CLI::App& command, const Context& context) {
  const auto pid = given(command, context, "--pid");
  if (context.program)
    return fail(ErrorCode::invalid_argument, "{} with a command after --: expected one of the two", pid)
        .hint("leave out the command; to start one: ridgeline profile -- COMMAND");
  if (command.count("--no-modules") > 0)
    return fail(ErrorCode::invalid_argument, "--no-modules with {}: the start of the process decides", pid)
        .hint("start it with ridgeline profile --idle --no-modules -- COMMAND");
  if (command.count("--idle") > 0)
    return fail(ErrorCode::invalid_argument, "--idle with {}: the process runs already", pid).hint("leave out --idle");
  if (command.count("--verify") > 0)
    return fail(ErrorCode::invalid_argument, "--verify with {}: it would run the program again", pid)
        .hint("record a second program: ridgeline profile --verify 1 -- COMMAND");
  if (given(command, context, "--counters") == "--counters rerun")
    return fail(ErrorCode::invalid_argument, "--counters rerun with {}: a process cannot be run again", pid)
        .hint("give --counters window");
  return {};
}

}  // namespace

Result<void> check_record_flags(const CLI::App& command, const Context& context, RecordMode mode) {
  if (mode == RecordMode::idle || mode == RecordMode::environment) return check_idle_flags(command, context, mode);
  if (mode == RecordMode::process) RL_TRY(check_process_flags(command, context));
  const bool records = mode != RecordMode::none;
  const auto typed = [&](const char* name) { return given(command, context, name); };
  for (const auto* option : command.get_options()) {
    if (option->count() == 0) continue;
    const auto text =
        option->get_positional() ? std::string(option->results().front()) : given(command, context, option->get_name());
    if (!records && option->get_group() == kGroup)
      return fail(ErrorCode::invalid_argument, "{}: for recording a program, but there is no command after --", text)
          .hint("for example: ridgeline profile {} -- python train.py", text);
    const bool wants_json = command.count("--json") > 0;
    if (records && option->get_positional())
      return fail(ErrorCode::invalid_argument, "{}: unexpected before --; expected options only", text)
          .hint("{}", wants_json ? fmt::format("JSON in a file: --json={}", text)
                                 : fmt::format("a program: ridgeline profile -- COMMAND; a model: ridgeline profile {}",
                                               text));
    if (records && option->get_group() != kGroup && !is_shared_option(*option))
      return fail(ErrorCode::invalid_argument, "{}: for profile MODEL, not for a recorded program", text)
          .hint("leave it out");
  }
  for (const auto& [one, other] : kExclusive) {
    const bool is_limit = mode == RecordMode::process && std::string_view(other) == "--duration";
    if (is_limit || typed(one).empty() || typed(other).empty()) continue;
    return fail(ErrorCode::invalid_argument, "{} with {}: steps and times exclude each other", typed(one), typed(other))
        .hint("give one of the two");
  }
  if (!typed("--lines").empty() && !typed("--no-modules").empty())
    return fail(ErrorCode::invalid_argument, "--lines with --no-modules: the hooks that record both are left out")
        .hint("leave out --no-modules");
  for (const auto* name : {"--warmup-steps", "--steps"})
    if (!typed(name).empty() && !typed("--no-modules").empty())
      return fail(ErrorCode::invalid_argument,
                  "{} with --no-modules: steps are counted by what --no-modules leaves out", typed(name))
          .hint("leave out --no-modules, or give --delay and --duration");
  return {};
}

Result<campaign::RecordOptions> record_options(const CLI::App& command, const RecordFlags& flags) {
  campaign::RecordOptions out = flags;
  if (flags.range.find_first_of(";\n") != std::string::npos)
    return fail(ErrorCode::invalid_argument, "--range {}: expected a name without \";\" and line breaks", flags.range)
        .hint("rename the range");
  const auto bytes = base::parse_bytes(flags.max_size, "--max-size");
  if (!bytes || *bytes < kLeastBytes)
    return fail(ErrorCode::invalid_argument, "--max-size {}: expected a size of at least 1MB", flags.max_size)
        .hint("for example --max-size 500MB, or 2GB");
  out.profiler_api = flags.capture_range == kProfilerApi;
  out.max_bytes = *bytes;
  out.max_events = campaign::readable_events(kProcesses);
  using campaign::Counting;
  out.counting = flags.counters == "rerun"  ? Counting::rerun
                 : flags.counters == "none" ? Counting::none
                                            : Counting::window;
  out.counts_concurrent = command.count("--counters") > 0;
  return out;
}

}  // namespace ridgeline::app
