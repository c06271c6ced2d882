// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/error.hpp"
#include "ridgeline/training_children.hpp"

namespace ridgeline::app {

/// The interpreter that trains built-in models: `named`, else the first python3 in PATH or /usr/bin that has torch, and
/// h5py if `reads_file`. Errors, one line with what to install: not_found.
[[nodiscard]] base::Result<std::string> find_training_python(const std::string& named, bool reads_file,
                                                             const ChildTerms& terms);

}  // namespace ridgeline::app
