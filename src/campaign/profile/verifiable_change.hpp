// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "schema/message.hpp"
#include "schema/value.hpp"

namespace ridgeline::campaign {

/// What the hooks of a recorded PyTorch program can do about a finding.
struct ProgramChange {
  std::string_view rule;    ///< ProfileFinding::rule
  std::string_view change;  ///< as python/ridgeline_profile/verify/changes.py names it
  schema::Message (*what)() = nullptr;
};
/// nullptr: such a finding needs an edit of the code.
[[nodiscard]] const ProgramChange* program_change(std::string_view rule);

/// A setting of ONNX Runtime that a finding about a model maps to.
struct ModelChange {
  std::string_view rule;
  std::string_view provider;  ///< ExecutionProvider::id; "": any
  std::string_view key;       ///< of the catalogue of parameters
  schema::Value value;

  [[nodiscard]] std::string setting() const;
};
/// nullptr: the provider has no setting for it.
[[nodiscard]] const ModelChange* model_change(std::string_view rule, std::string_view provider);

}  // namespace ridgeline::campaign
