// SPDX-License-Identifier: Apache-2.0
#include "watch/latency_source.hpp"

#include <utility>

#include "schema/error_message.hpp"

namespace ridgeline::watch {

using base::ErrorCode;
using base::Result;

namespace {

void add_note(Observation& seen, const std::string& note) {
  if (!note.empty()) seen.note += (seen.note.empty() ? "" : "; ") + note;
}

}  // namespace

LatencySource::LatencySource(std::unique_ptr<LatencyInput> input, ServiceInspector inspector, GpuSampler sampler)
    : input_(std::move(input)), inspector_(std::move(inspector)), sampler_(std::move(sampler)) {}

void LatencySource::look_closer(analysis::ServiceState& state) {
  inspector_.inspect_afresh(state);
  inspector_.release();
}

Result<Observation> LatencySource::look() {
  Observation seen;
  auto inspected = inspector_.inspect(seen.state);
  inspector_.release();  // nothing is measured in it, so it need not stay
  if (!inspected) {
    if (inspected.error().code == ErrorCode::cancelled) return tl::unexpected(std::move(inspected).error());
    // The service goes on without its files; what it writes still counts.
    seen.note = base::error_line(inspected.error());
  }
  seen.state.gpu = sampler_.sample();
  seen.state.process_names = process_names(seen.state.gpu);
  auto read = input_->read(window_);
  add_note(seen, input_->take_note());
  if (!read) {
    seen.problem = schema::message_of(read.error());
    return seen;
  }
  if (!window_.enough()) {
    if (window_.refused() > 0 && seen.note.empty())
      seen.note =
          fmt::format("{} lines were no latency; expected milliseconds, or JSON with latency_ms", window_.refused());
    return seen;
  }
  auto taken = window_.take();
  if (taken.refused > 0)
    add_note(seen, fmt::format("{} line{} no latency, the first \"{}\"; expected milliseconds, or JSON with latency_ms",
                               taken.refused, taken.refused == 1 ? " was" : "s were", taken.first_refused));
  schema::Measurement measurement;
  measurement.latency_ns = std::move(taken.latency_ns);
  seen.figure = analysis::figure_of(measurement);
  if (!taken.shapes.empty()) seen.state.shapes = std::move(taken.shapes);
  seen.state.shape_shares = std::move(taken.shares);
  return seen;
}

}  // namespace ridgeline::watch
