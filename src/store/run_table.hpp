// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "schema/run.hpp"
#include "store/sqlite.hpp"

namespace ridgeline::store {

/// Inserts or replaces a run and its record, outside any transaction of its own.
[[nodiscard]] base::Result<void> put_run(const Connection& connection, const schema::Run& run);

/// Of one kind; "": of all. Newest first.
[[nodiscard]] base::Result<std::vector<schema::RunSummary>> list_runs(const Connection& connection, std::size_t limit,
                                                                      std::string_view kind);

/// The whole id that a reference means, see Store::load_run.
[[nodiscard]] base::Result<std::string> resolve_run(const Connection& connection, const std::string& reference,
                                                    std::string_view kind);

/// By its whole id.
[[nodiscard]] base::Result<schema::Run> read_run(const Connection& connection, const std::string& id);

}  // namespace ridgeline::store
