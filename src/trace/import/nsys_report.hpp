// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/error.hpp"

namespace ridgeline::trace {

/// Whether a file is a recording of Nsight Systems in its own format, by its name.
[[nodiscard]] bool is_nsys_report(const std::string& path);

/// Exports such a recording to SQLite in `folder` with the `nsys` of PATH; the new file. Errors: unsupported where
/// there is no nsys, with the command to run elsewhere; io, with nsys' last line, where it fails.
[[nodiscard]] base::Result<std::string> export_nsys_report(const std::string& path, const std::string& folder);

}  // namespace ridgeline::trace
