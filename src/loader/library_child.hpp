// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "base/error.hpp"

namespace ridgeline::loader {

/// What `work` returns, made in a child process: damaged metadata may crash the HDF5 library, or keep it busy for ever.
/// hdf5_mutex() must not be held. Errors: io (no process), timeout (not done within 10 minutes), corrupt (it died).
[[nodiscard]] base::Result<std::string> from_library_child(const std::function<std::string()>& work);

}  // namespace ridgeline::loader
