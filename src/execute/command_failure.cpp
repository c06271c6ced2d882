// SPDX-License-Identifier: Apache-2.0
#include "execute/command_failure.hpp"

#include <algorithm>
#include <cctype>
#include <csignal>

#include "base/text.hpp"
#include "execute/classify.hpp"
#include "execute/messages.hpp"
#include "execute/output_tail.hpp"
#include "schema/messages.hpp"
#include "workload/failure_facts.hpp"

namespace ridgeline::execute {
namespace {

using schema::TrialStatus;

constexpr int kShellSignalBase = 128;
constexpr int kLargestSignal = 64;
constexpr std::string_view kTerminate = "terminate called after throwing an instance of '";

/// "torch.cuda.OutOfMemoryError", as Python prints an exception's type before a colon or alone on a line.
bool is_exception_type(std::string_view word) {
  constexpr std::string_view kEndings[]{"Error", "Exception", "Interrupt", "Exit"};
  const bool named = !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '.';
  });
  return named && std::any_of(std::begin(kEndings), std::end(kEndings), [&](std::string_view ending) {
           return word.size() >= ending.size() && word.substr(word.size() - ending.size()) == ending;
         });
}

std::string last_line(std::string_view text) {
  const auto trimmed = base::trim(text);
  const auto at = trimmed.find_last_of("\r\n");
  return std::string(base::trim(at == std::string_view::npos ? trimmed : trimmed.substr(at + 1)));
}

std::optional<int> signal_of(const SupervisorReport& report) {
  if (report.signal) return report.signal;
  const int code = report.exit_code.value_or(0);
  if (code > kShellSignalBase && code <= kShellSignalBase + kLargestSignal) return code - kShellSignalBase;
  return std::nullopt;
}

}  // namespace

PrintedException printed_exception(std::string_view output) {
  PrintedException found;
  for (const auto& raw : base::split(output, '\n')) {
    const std::string_view line = base::trim(raw);
    if (line.substr(0, kTerminate.size()) == kTerminate) {
      const auto rest = line.substr(kTerminate.size());
      found = {std::string(rest.substr(0, rest.find('\''))), ""};
    } else if (line.substr(0, 9) == "what():  " && !found.type.empty()) {
      found.message = line.substr(9);
    } else if (!raw.empty() && std::isspace(static_cast<unsigned char>(raw.front())) == 0) {
      const auto colon = line.find(": ");
      const auto word = line.substr(0, colon);
      if (is_exception_type(word))
        found = {std::string(word), colon == std::string_view::npos ? "" : std::string(line.substr(colon + 2))};
    }
  }
  return found;
}

CommandFailure judge_command(const CommandResult& result, double limit_s, const std::string& tail) {
  CommandFailure out;
  auto& failure = out.failure;
  failure.phase = schema::TrialPhase::measure;
  failure.stderr_tail = tail;
  if (result.timed_out) {
    out.status = TrialStatus::timeout;
    failure.message = messages::command_not_finished({.limit_s = limit_s, .last = last_line(tail)});
    return out;
  }
  failure.exit_code = result.report.exit_code;
  failure.signal = result.report.signal;
  const auto exception = printed_exception(tail);
  workload::FailureFacts facts;
  facts.type = exception.type;
  facts.message = exception.type.empty() ? last_line(tail) : exception.message;
  facts.exit_code = result.report.exit_code;
  facts.signal = result.report.signal;
  facts.kernel_oom_kill = result.kernel_oom_kill;
  const auto evidence = workload::oom_evidence(facts);
  const auto signal = signal_of(result.report);
  const auto said = !exception.type.empty()
                        ? exception.type + (exception.message.empty() ? "" : ": " + exception.message)
                        : last_line(tail);
  if (evidence == schema::OomEvidence::exit_status) {
    out.status = TrialStatus::out_of_memory;
    failure.message = messages::command_out_of_memory(said);
  } else if (evidence != schema::OomEvidence::none) {
    out.status = TrialStatus::out_of_memory;
    failure.message = schema::messages::reported_error({.words = said, .hint = {}});
  } else if (signal) {
    out.status = TrialStatus::crashed;
    failure.message =
        messages::command_died({.signal = signal_name(*signal), .killed = *signal == SIGKILL, .said = said});
  } else {
    failure.message = messages::command_exited({.code = result.report.exit_code.value_or(0), .said = said});
  }
  return out;
}

}  // namespace ridgeline::execute
