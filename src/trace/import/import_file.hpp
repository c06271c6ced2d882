// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "base/error.hpp"
#include "trace/import/file_kind.hpp"
#include "trace/kernel_counters.hpp"
#include "trace/trace.hpp"

namespace ridgeline::trace {

/// What a file holds: one of the two.
struct ImportedFile {
  FileKind kind = FileKind::kineto;
  std::optional<Trace> trace;
  std::optional<KernelCounters> counters;
};

/// A file of any kind that is known. Errors: those of its importer.
[[nodiscard]] base::Result<ImportedFile> import_file(const std::string& path);

/// "PyTorch profiler", "Nsight Systems".
[[nodiscard]] std::string_view tool_name(FileKind kind) noexcept;

}  // namespace ridgeline::trace
