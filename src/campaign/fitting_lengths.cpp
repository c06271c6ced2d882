// SPDX-License-Identifier: Apache-2.0
#include "campaign/fitting_lengths.hpp"

#include <utility>
#include <vector>

#include "execute/calls.hpp"

namespace ridgeline::campaign {
namespace {

constexpr std::int64_t kLengths[] = {256, 512, 1024, 2048, 4096, 8192, 16384};

}  // namespace

base::Result<std::optional<schema::ModelDescription>> with_fitting_lengths(
    execute::Executor& executor, workload::InspectRequest asked, schema::WorkloadRef& workload,
    const std::function<base::Result<void>()>& attempt) {
  auto first = attempt();
  if (first) return std::nullopt;
  if (first.error().code != base::ErrorCode::refused_inputs) return tl::unexpected<base::Error>(first.error());
  const auto before = workload;
  std::optional<std::vector<schema::ShapeSet>> last;
  for (const auto length : kLengths) {
    asked.length = length;
    auto model = execute::inspect(executor, asked);
    // Two lengths with the same shapes: none is a guess.
    if (!model || last == model->shapes) break;
    last = model->shapes;
    if (model->shapes == before.shapes) continue;
    workload.shapes = model->shapes;
    workload.input_values = model->input_values;
    const auto done = attempt();
    if (done) return std::move(*model);
    if (done.error().code != base::ErrorCode::refused_inputs) return tl::unexpected<base::Error>(done.error());
  }
  workload = before;
  return tl::unexpected<base::Error>(std::move(first).error());
}

}  // namespace ridgeline::campaign
