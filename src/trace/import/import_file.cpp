// SPDX-License-Identifier: Apache-2.0
#include "trace/import/import_file.hpp"

#include "base/scratch_folder.hpp"
#include "trace/file/trace_reader.hpp"
#include "trace/import/kineto_import.hpp"
#include "trace/import/ncu_import.hpp"
#include "trace/import/nsys_import.hpp"
#include "trace/import/nsys_report.hpp"
#include "trace/import/onnxruntime_import.hpp"
#include "trace/import/snapshot_import.hpp"

namespace ridgeline::trace {

base::Result<ImportedFile> import_file(const std::string& path) {
  ImportedFile out;
  if (is_nsys_report(path)) {
    const base::ScratchFolder folder("nsys");
    RL_TRY_ASSIGN(const auto exported, export_nsys_report(path, folder.path().string()));
    out.kind = FileKind::nsys;
    RL_TRY_ASSIGN(out.trace, import_nsys(exported));
    return out;
  }
  RL_TRY_ASSIGN(out.kind, file_kind(path));
  switch (out.kind) {
    case FileKind::kineto: {
      RL_TRY_ASSIGN(out.trace, import_kineto(path));
      break;
    }
    case FileKind::onnxruntime: {
      RL_TRY_ASSIGN(out.trace, import_onnxruntime(path));
      break;
    }
    case FileKind::nsys: {
      RL_TRY_ASSIGN(out.trace, import_nsys(path));
      break;
    }
    case FileKind::ncu: {
      RL_TRY_ASSIGN(out.counters, import_ncu(path));
      break;
    }
    case FileKind::snapshot: {
      RL_TRY_ASSIGN(out.trace, import_snapshot(path));
      break;
    }
    case FileKind::ridgeline: {
      RL_TRY_ASSIGN(out.trace, read_trace_file(path));
      if (out.trace->is_of_host() && out.trace->ranges.size() == 0 && out.trace->allocations.size() == 0)
        return base::fail(base::ErrorCode::unsupported,
                          "{}: no kernels, no nodes of a model, no operations and no allocations", path)
            .hint("record longer");
      break;
    }
  }
  return out;
}

std::string_view tool_name(FileKind kind) noexcept {
  switch (kind) {
    case FileKind::kineto: return "PyTorch profiler";
    case FileKind::onnxruntime: return "ONNX Runtime";
    case FileKind::nsys: return "Nsight Systems";
    case FileKind::ncu: return "Nsight Compute";
    case FileKind::snapshot: return "PyTorch memory snapshot";
    case FileKind::ridgeline: return "Ridgeline";
  }
  return "";
}

}  // namespace ridgeline::trace
