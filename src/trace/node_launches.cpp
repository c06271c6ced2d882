// SPDX-License-Identifier: Apache-2.0
#include "trace/node_launches.hpp"

#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.hpp"
#include "schema/execution_provider.hpp"

namespace ridgeline::trace {

LaunchNodes::LaunchNodes(const Trace& trace) : trace_(trace) {
  const std::set<NameId> all(trace.nodes.provider.begin(), trace.nodes.provider.end());
  for (const auto provider : all) {
    const auto name = trace.strings.text(provider);
    const auto* row = schema::find_provider_named(name);
    if (row == nullptr ? !name.empty() : row->on_gpu()) providers_.insert(provider);
  }
}

std::string launch_note(const Trace& trace) {
  bool on_gpu = false;
  std::set<std::string_view> unknown;
  const LaunchNodes launches(trace);
  for (const auto provider : launches.providers()) {
    const auto name = trace.strings.text(provider);
    if (schema::find_provider_named(name) == nullptr)
      unknown.insert(name);
    else
      on_gpu = true;
  }
  constexpr std::string_view kNoRates = "no GB/s and no GFLOP/s follow from them";
  std::string note;
  if (on_gpu && trace.kernels.size() > 0)
    note = fmt::format("ONNX Runtime's node times on a GPU are those of launches: {}; what the GPU did are its {}",
                       kNoRates, base::counted(trace.kernels.size(), "kernel"));
  else if (on_gpu)
    note = fmt::format(
        "ONNX Runtime's node times on a GPU are those of launches: what the GPU does is not in them, and {}", kNoRates);
  if (!unknown.empty())
    note += fmt::format("{}node times of {} may be those of launches: {}", note.empty() ? "" : "; ",
                        fmt::join(unknown, ", "), kNoRates);
  return note;
}

}  // namespace ridgeline::trace
