// SPDX-License-Identifier: Apache-2.0
#include "doctor/check.hpp"

#include <utility>

namespace ridgeline::doctor {

Check make_check(CheckGroup group, const std::string& id, schema::Message title, CheckStatus status,
                 schema::Message evidence, schema::Message fix, std::vector<std::string> commands) {
  return {fmt::format("{}.{}", base::enum_name(group), id),
          std::move(title),
          group,
          status,
          std::move(evidence),
          std::move(fix),
          std::move(commands)};
}

std::string_view group_title(CheckGroup group) noexcept {
  switch (group) {
    case CheckGroup::driver: return "Driver";
    case CheckGroup::libraries: return "Libraries";
    case CheckGroup::inference: return "Inference";
    case CheckGroup::gpu: return "GPUs";
    case CheckGroup::machine: return "Machine";
    case CheckGroup::python: return "Python";
    case CheckGroup::recording: return "Recording";
    case CheckGroup::model: return "Model";
  }
  return "?";
}

RL_DEFINE_JSON(Check, id, title, group, status, evidence, fix, commands)

}  // namespace ridgeline::doctor
