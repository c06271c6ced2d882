// SPDX-License-Identifier: Apache-2.0
#include "trace/node_launches.hpp"

#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.hpp"
#include "schema/execution_provider.hpp"

namespace ridgeline::trace {

bool is_launch(const Trace& trace, std::size_t node) {
  const auto provider = trace.strings.text(trace.nodes.provider[node]);
  const auto* row = schema::find_provider_named(provider);
  return row == nullptr ? !provider.empty() : row->on_gpu();
}

std::string launch_note(const Trace& trace) {
  bool on_gpu = false;
  std::set<std::string_view> unknown;
  for (std::size_t i = 0; i < trace.nodes.size(); ++i) {
    if (!is_launch(trace, i)) continue;
    const auto provider = trace.strings.text(trace.nodes.provider[i]);
    if (schema::find_provider_named(provider) == nullptr)
      unknown.insert(provider);
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
