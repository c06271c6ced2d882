// SPDX-License-Identifier: Apache-2.0
// What the files that follow values through operators share.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "workload/onnx/value_origin.hpp"

namespace ridgeline::workload {

using KnownInputs = std::vector<KnownInput>;
/// How the origin of an operator's first output follows from its inputs.
using OriginRule = Origin (*)(const onnx::NodeProto&, const KnownInputs&);
using OriginRules = std::map<std::string, OriginRule>;

/// By operator: those that calculate, convert and compare.
[[nodiscard]] const OriginRules& calculating_origin_rules();
/// Those that move values about.
[[nodiscard]] const OriginRules& moving_origin_rules();

/// Smallest and largest of a known value.
struct ValueBounds {
  double low;
  double high;
};
[[nodiscard]] std::optional<ValueBounds> bounds_of(const KnownInput& input);

[[nodiscard]] const KnownInput& known_at(const KnownInputs& inputs, std::size_t index);
[[nodiscard]] bool has_strands(const KnownInput& input);
[[nodiscard]] bool is_whole(const KnownInput& input);
void add_strands(const KnownInput& from, Origin& to);
/// All values moved, none changed.
[[nodiscard]] Origin moved(const KnownInput& input);
/// Moved in their order.
[[nodiscard]] Origin same_order(const KnownInput& input);

}  // namespace ridgeline::workload
