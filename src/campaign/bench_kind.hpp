// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "run/kind.hpp"

namespace ridgeline::campaign {

/// Runs of `ridgeline bench`.
[[nodiscard]] std::unique_ptr<run::Kind> make_bench_kind();

}  // namespace ridgeline::campaign
