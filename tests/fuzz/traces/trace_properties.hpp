// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "trace/analysis/analysed_trace.hpp"
#include "trace/import/file_kind.hpp"

namespace ridgeline::fuzz {

/// What was found of a file.
struct FileVerdict {
  std::string broken;     ///< the property that does not hold; "" where all do
  bool imported = false;  ///< rather than refused
};

/// Imports the file as that kind and analyses what it has; `again`: a path for a trace file that it is written to and
/// read from, "" for none; `companion`: the trace that counters are joined with, whose counters they become.
[[nodiscard]] FileVerdict look_at(const std::string& path, trace::FileKind kind, const std::string& again,
                                  trace::AnalysedTrace& companion);

}  // namespace ridgeline::fuzz
