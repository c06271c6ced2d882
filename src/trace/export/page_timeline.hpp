// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "trace/analysis/analysed_trace.hpp"

namespace ridgeline::trace {

/// The events as the timeline of an HTML report reads them (src/report/html/timeline_data.js): every kernel, copy, set
/// and node, each with its module and step, and calls of modules and operations on the host, of which the deepest
/// levels are left out where there are very many. "" for a trace without any.
///
/// Base64 of a zlib stream of: the length of the header (4 bytes, little-endian); the header, JSON; columns of unsigned
/// LEB128 numbers. Header:
///   span_ns  nanoseconds from the first to the last moment
///   names    [kind, name]; kind: 0 kernel, 1 copy, 2 set, 3 module or annotation, 4 operation, 5 node
///   modules  [parent, name, is a module], the root first; parent -1 of the root
///   shapes   [grid x, y, z, block x, y, z]
///   steps    [name, start, duration]
///   groups   {"title", "gpu": true or false, "rows"}, streams before threads; a row is [count, bytes of each column]
///   levels   of the host that are there; hidden_levels: that are not
/// Columns follow each other, row by row, each with `count` numbers:
///   nanoseconds since the end of the one before (of the first: since the first moment); duration in nanoseconds; place
///   in names; kernels: place in shapes and 1, other work: bytes and 1, 0: unknown; difference to the one before of the
///   place in modules and 1, 0: unknown; likewise in steps. Differences are zigzag numbers.
[[nodiscard]] std::string page_timeline(const AnalysedTrace& analysed);

}  // namespace ridgeline::trace
