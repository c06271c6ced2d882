// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "doctor/checks/checks.hpp"
#include "doctor/load_error.hpp"
#include "doctor/messages.hpp"
#include "schema/messages.hpp"

namespace ridgeline::doctor {
namespace {

using enum CheckStatus;

constexpr int kCupti12 = 12;  // its package has the release in its name

Check recording_check(std::string id, schema::Message title, CheckStatus status, schema::Message evidence,
                      schema::Message fix = {}, std::vector<std::string> commands = {}) {
  return make_check(CheckGroup::recording, id, std::move(title), status, std::move(evidence), std::move(fix),
                    std::move(commands));
}

Check recorder_check(const Facts& facts) {
  const auto& recording = facts.recording;
  const auto title = messages::title_recorder();
  if (!recording.library.empty())
    return recording_check("library", title, ok, messages::library({.path = recording.library}));
  const auto& error = recording.library_error;
  if (!facts.driver.has_gpu()) return recording_check("library", title, skipped, messages::no_gpu());
  return recording_check("library", title, warn, messages::no_recorder(error.message),
                         schema::messages::foreign(error.hint));
}

/// In the Python that runs the program; another program is pointed to the package by a variable.
std::vector<std::string> install_commands(const CuptiFacts& cupti) {
  const auto package = cupti.cuda_major == kCupti12 ? "nvidia-cuda-cupti-cu12" : "nvidia-cuda-cupti";
  if (!cupti.label.empty())
    return {fmt::format("{}pip install {}", cupti.python.empty() ? "" : cupti.python + " -m ", package)};
  return {fmt::format("python3 -m pip install {}", package),
          fmt::format("export RIDGELINE_CUPTI=$(python3 -c \"import nvidia; print(list(nvidia.__path__)[0])\")/{}",
                      cupti.cuda_major == kCupti12 ? "cuda_cupti/lib/libcupti.so.12"
                                                   : fmt::format("cu{0}/lib/libcupti.so.{0}", cupti.cuda_major))};
}

Check cupti_check(const CuptiFacts& cupti, std::size_t number, const Facts& facts) {
  const auto says = [&](CheckStatus status, schema::Message evidence, schema::Message fix = {},
                        std::vector<std::string> commands = {}) {
    return recording_check(fmt::format("cupti.{}", number), messages::product("CUPTI"), status, std::move(evidence),
                           std::move(fix), std::move(commands));
  };
  const auto whose = messages::cupti_user({.python = cupti.label, .cuda = std::to_string(cupti.cuda_major)});
  if (!cupti.path.empty() && cupti.load_error.empty())
    return says(ok, messages::cupti_found({.user = whose, .version = cupti.version, .path = cupti.path}));
  if (!facts.driver.has_gpu()) return says(skipped, messages::no_gpu());
  if (!cupti.path.empty()) {
    const auto problem = explain_load_error(cupti.load_error);
    return says(warn,
                messages::cupti_broken(
                    {.user = whose, .why = messages::broken_library({.path = cupti.path, .problem = problem.what})}),
                problem.fix, install_commands(cupti));
  }
  const auto commands = install_commands(cupti);
  if (!cupti.label.empty())
    return says(warn, messages::cupti_absent({.user = whose, .command = {}}), messages::fix_cupti(), commands);
  // A machine without torch may have no program to record.
  return says(skipped,
              messages::cupti_absent({.user = whose, .command = fmt::format("{}", fmt::join(commands, "; "))}));
}

Check injection_check(const RecordingFacts& recording) {
  const auto title = messages::title_injection();
  if (recording.injections.empty()) return recording_check("injection", title, ok, messages::injection_free());
  std::vector<std::string> set;
  std::vector<std::string> commands;
  for (const auto& [name, value] : recording.injections) {
    set.push_back(fmt::format("{}={}", name, value));
    commands.push_back("unset " + name);
  }
  return recording_check("injection", title, warn, messages::injection_taken(set), messages::fix_injection(),
                         std::move(commands));
}

}  // namespace

std::vector<Check> check_recording(const Facts& facts) {
  std::vector<Check> checks{recorder_check(facts)};
  for (const auto& cupti : facts.recording.cupti) checks.push_back(cupti_check(cupti, checks.size(), facts));
  checks.push_back(injection_check(facts.recording));
  return checks;
}

}  // namespace ridgeline::doctor
