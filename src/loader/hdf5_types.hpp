// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hdf5.h>

#include <optional>
#include <string>

#include "base/error.hpp"
#include "loader/element_type.hpp"

namespace ridgeline::loader {

// What an HDF5 type is to us. hdf5_mutex() must be held.

/// Elements that we can read ourselves; nullopt for the rest.
[[nodiscard]] std::optional<ElementType> plain_element(hid_t type);

/// Element type of a dataset and, when the library must convert it, why. Errors: unsupported (no fixed size).
[[nodiscard]] base::Result<ElementType> describe_element(hid_t type, std::string& reason);

}  // namespace ridgeline::loader
