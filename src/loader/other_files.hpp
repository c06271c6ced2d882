// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hdf5.h>

#include <string>
#include <vector>

#include "base/error.hpp"

namespace ridgeline::loader {

/// What of a dataset lies in other files than its own: external raw storage, or the sources of a virtual dataset. The
/// library reads fill values or zeros in place of what is missing there, without a word. Gives a line for each thing
/// that a user should know; "name" is how the user named the dataset. Errors, all of code corrupt: an external file
/// that is missing or too short, a source that is smaller than what is mapped, no source at all. hdf5_mutex() must be
/// held.
[[nodiscard]] base::Result<std::vector<std::string>> check_other_files(hid_t dataset, const std::string& name);

}  // namespace ridgeline::loader
