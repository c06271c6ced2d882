// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>

#include "schema/execution_provider.hpp"
#include "schema/version_range.hpp"
#include "search/space_builder.hpp"

namespace ridgeline::search {

using schema::in_range;
using schema::VersionRange;

/// Where a rule holds, as data: an empty part asks nothing. What was measured on one kind of device, or seen with one
/// release, says so here.
struct RuleCondition {
  VersionRange runtime = {};             ///< of ONNX Runtime
  VersionRange cudnn = {};               ///< of the cuDNN that the provider loads
  VersionRange compute_capability = {};  ///< class of the GPU: from "9.0" on is Hopper and later
  std::optional<schema::DeviceKind> device = {};
  bool schema::ExecutionProvider::*provider_has = nullptr;
  bool schema::ExecutionProvider::*provider_lacks = nullptr;
  bool (*model)(const schema::ModelDescription&) = nullptr;  ///< what is true of the model, as far as it is known
  bool (*about)(const SpaceInput&) = nullptr;                ///< what else is true of machine, data and request
};

[[nodiscard]] bool holds(const RuleCondition& condition, const SpaceInput& input);

/// A parameter, or one of its values, that is not worth a try.
struct PruningRule {
  std::array<std::string_view, 8> keys;        ///< "" fills up
  std::optional<std::string_view> value = {};  ///< as Value::to_text; nullopt: the parameter as a whole
  RuleCondition where = {};
  std::string_view reason;  ///< for people; "{cudnn}" and "{nodes}" are filled in
};

/// The reason of the first rule about the parameter (`value` nullopt) or its value that holds; nullopt: none does.
[[nodiscard]] std::optional<std::string> first_reason(std::span<const PruningRule> rules, std::string_view key,
                                                      std::optional<std::string_view> value, const SpaceInput& input);

}  // namespace ridgeline::search
