// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "base/error.hpp"
#include "loader/data_file.hpp"

namespace ridgeline::loader {

/// Share of a file (0 to 1) that lies in the page cache: mincore over the whole file where the kernel answers
/// truthfully (a file of the caller's, or one open to it for writing), else RWF_NOWAIT reads at 256 places. An empty
/// file is 1. Errors: not_found, io, unsupported (neither way works here).
[[nodiscard]] base::Result<double> resident_share(const std::filesystem::path& path);

/// The same of an open file, at 256 places only: within 0.03 or so, in a tenth of a millisecond whatever the file's
/// size.
[[nodiscard]] base::Result<double> resident_share(const DataFile& file);

}  // namespace ridgeline::loader
