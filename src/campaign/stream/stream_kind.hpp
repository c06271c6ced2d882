// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "run/kind.hpp"

namespace ridgeline::campaign {

/// Runs of `ridgeline stream`.
[[nodiscard]] std::unique_ptr<run::Kind> make_stream_kind();

}  // namespace ridgeline::campaign
