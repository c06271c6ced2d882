// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "schema/configuration.hpp"

namespace ridgeline::search {

/// Whether a setting of this key can have any effect beside the others: inter_op_* needs execution_mode=parallel, the
/// spin keys need spinning worker threads, and so on. Keys without such a dependence are always relevant.
[[nodiscard]] bool is_relevant(const std::string& key, const schema::Configuration& configuration);

/// Whether a recorded CUDA graph is replayed, with either provider.
[[nodiscard]] bool replays_graph(const schema::Configuration& configuration);

/// The keys that is_relevant looks at; whoever assigns keys one by one assigns these first.
[[nodiscard]] bool decides_relevance(const std::string& key);

/// Drops values equal to the catalogue's default, and irrelevant settings, until nothing changes: two configurations
/// that make the runtime do the same have one simplified form.
[[nodiscard]] schema::Configuration simplify(schema::Configuration configuration);

/// Whether the value is what the runtime uses anyway.
[[nodiscard]] bool is_default(const std::string& key, const schema::Value& value);

}  // namespace ridgeline::search
