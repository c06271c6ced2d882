// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/json.hpp"
#include "schema/message.hpp"

namespace ridgeline::doctor {

enum class CheckStatus {
  ok,
  skipped,  ///< nothing to judge here (no GPU, an optional library that is absent); says what was tried or is lost
  warn,     ///< works, but slower, less safely or less observed than it could
  fail,     ///< something that should work here does not
};

/// In the order in which they are shown.
enum class CheckGroup { driver, libraries, inference, gpu, machine, python, recording, model };

/// One judged fact about the machine.
struct Check {
  std::string id;         ///< stable: "gpu.pcie"
  schema::Message title;  ///< at most 18 columns: "PCIe link"
  CheckGroup group = CheckGroup::machine;
  CheckStatus status = CheckStatus::ok;
  schema::Message evidence;           ///< what was seen
  schema::Message fix;                ///< what to do and why; empty when there is nothing to do
  std::vector<std::string> commands;  ///< the fix as shell lines to copy
};

/// `id` without its group: "pcie" becomes "gpu.pcie".
[[nodiscard]] Check make_check(CheckGroup group, const std::string& id, schema::Message title, CheckStatus status,
                               schema::Message evidence, schema::Message fix, std::vector<std::string> commands);

/// What a group is called above its lines.
[[nodiscard]] std::string_view group_title(CheckGroup group) noexcept;

}  // namespace ridgeline::doctor

template <>
struct ridgeline::base::EnumNames<ridgeline::doctor::CheckStatus> {
  using enum doctor::CheckStatus;
  static constexpr std::array names{std::pair{ok, "ok"}, std::pair{skipped, "skipped"}, std::pair{warn, "warn"},
                                    std::pair{fail, "fail"}};
};
template <>
struct ridgeline::base::EnumNames<ridgeline::doctor::CheckGroup> {
  using enum doctor::CheckGroup;
  static constexpr std::array names{std::pair{driver, "driver"},       std::pair{libraries, "libraries"},
                                    std::pair{inference, "inference"}, std::pair{gpu, "gpu"},
                                    std::pair{machine, "machine"},     std::pair{python, "python"},
                                    std::pair{recording, "recording"}, std::pair{model, "model"}};
};

namespace ridgeline::doctor {

RL_DECLARE_JSON(Check)

}  // namespace ridgeline::doctor
