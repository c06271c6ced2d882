// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/exit_code_text.hpp"

#include <array>

#include <fmt/format.h>

#include "base/exit_code.hpp"

namespace ridgeline::app {
namespace {

using enum base::ExitCode;

struct CommandCode {
  std::string_view command;
  base::ExitCode code;
  std::string_view meaning;
};

constexpr std::array kCommandCodes{
    CommandCode{"tune", kFinding, "nothing to recommend: all trials failed, none met the constraints, or time ran out"},
    CommandCode{"tune", kNoAnswer, "undecided: the machine is too noisy or the interval too wide; nothing is changed"},
    CommandCode{"bench", kFinding, "no setting could be trained"},
    CommandCode{"sweep", kFinding, "no combination succeeded"},
    CommandCode{"stream bench", kFinding, "it did not keep up with the load"},
    CommandCode{"stream bench", kNoAnswer, "void: the load was not what it should have been"},
    CommandCode{"watch", kFinding, "with --once or --count: slower or failing"},
    CommandCode{"compare", kFinding, "B is slower"},
    CommandCode{"compare", kNoAnswer, "inconclusive, with --undecided fail (0 without)"},
    CommandCode{"profile", kFinding, "with --verify: the change is slower"},
    CommandCode{"profile", kNoAnswer, "with --verify: the change was not measured, or the interval is too wide"},
    CommandCode{"profile diff", kFinding, "B is slower"},
    CommandCode{"profile diff", kNoAnswer, "inconclusive, with --undecided fail (0 without)"},
    CommandCode{"rerun", kFinding, "it is slower now"},
    CommandCode{"doctor", kFinding, "warnings"},
    CommandCode{"doctor", kFailures, "failures"},
};

}  // namespace

std::string exit_code_table() {
  std::string out = "\nExit codes:\n";
  for (const auto& [code, name, meaning] : base::kExitCodes)
    out += fmt::format("  {:<3} {}: {}\n", static_cast<int>(code), name, meaning);
  return out;
}

std::string exit_codes_of(std::string_view command) {
  std::string out;
  for (const auto& [whose, code, meaning] : kCommandCodes)
    if (whose == command) out += fmt::format("  {:<3} {}\n", static_cast<int>(code), meaning);
  return out.empty() ? out : "\n\nExit codes in addition to the common ones (ridgeline --help):\n" + out;
}

}  // namespace ridgeline::app
