// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>

#include "schema/execution_provider.hpp"
#include "schema/message.hpp"
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

/// Of the cuDNN that the provider loads; "" where it is not known.
[[nodiscard]] std::string cudnn_version(const SpaceInput& input);

[[nodiscard]] bool holds(const RuleCondition& condition, const SpaceInput& input);

/// A parameter, or one of its values, that is not worth a try.
struct PruningRule {
  std::array<std::string_view, 8> keys;        ///< "" fills up
  std::optional<std::string_view> value = {};  ///< as Value::to_text; nullopt: the parameter as a whole
  RuleCondition where = {};
  schema::Message (*reason)() = nullptr;
  schema::Message (*reason_of)(const SpaceInput&) = nullptr;  ///< in its place, of a reason with values
};

/// The reason of the first rule about the parameter (`value` nullopt) or its value that holds; nullopt: none does.
[[nodiscard]] std::optional<schema::Message> first_reason(std::span<const PruningRule> rules, std::string_view key,
                                                          std::optional<std::string_view> value,
                                                          const SpaceInput& input);

}  // namespace ridgeline::search
