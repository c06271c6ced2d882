// SPDX-License-Identifier: Apache-2.0
#include "trace/findings/frameworks.hpp"

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "trace/analysis/range_names.hpp"
#include "trace/torch_files.hpp"

namespace ridgeline::trace {
namespace {

bool contains_any(std::string_view name, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [&](auto part) { return name.find(part) != std::string_view::npos; });
}

/// Whether any of the names that these spans have is such a one; each name is looked at once.
template <typename Is>
bool has_name(const Trace& trace, const Spans& spans, Is is) {
  std::vector<NameId> names = spans.name;
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return std::any_of(names.begin(), names.end(), [&](NameId name) { return is(trace.strings.text(name)); });
}

}  // namespace

Frameworks frameworks_of(const Trace& trace) {
  // The recorder marks the steps of ONNX programs in the same way, and Python's own files are "<frozen ...>".
  const auto of_torch = [&](std::string_view name) {
    return name.starts_with("aten::") || name.starts_with("autograd::") || name.starts_with("c10d::") ||
           is_module_call(name) || (is_profiler_step(name) && !trace.of_recorder) ||
           (is_of_torch(name) && !name.starts_with("<frozen ")) || contains_any(name, {"at::native", "c10::"});
  };
  const auto of_onnx = [](std::string_view name) {
    return name == kModelRun || is_session_run(name) || contains_any(name, {"onnxruntime::", "onnxruntime/"});
  };
  return {has_name(trace, trace.ranges, of_torch) || has_name(trace, trace.kernels, of_torch),
          trace.nodes.size() > 0 || has_name(trace, trace.ranges, of_onnx) || has_name(trace, trace.kernels, of_onnx)};
}

}  // namespace ridgeline::trace
