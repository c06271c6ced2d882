// SPDX-License-Identifier: Apache-2.0
#include "campaign/stream/own_peak.hpp"

#include <utility>
#include <vector>

namespace ridgeline::campaign {
namespace {

constexpr std::size_t kMostRuns = 50;

/// What decides how fast a pipeline can be.
base::Json pipeline_of(const schema::StreamRun& run, const schema::StreamReady& ready) {
  const auto& spec = run.request.spec;
  base::Json settings = spec.settings;
  for (const auto* key : {"slo_ms", "drop", "efficiency", "frame_timeout_ms", "inference_queue_size",
                          "result_queue_size", "decode_device", "rotate", "every"})
    settings.erase(key);
  settings["batch_size"] = ready.batch_size;
  settings["streams"] = ready.workers;
  std::vector<std::int64_t> size;
  if (!ready.sources.empty()) size = {ready.sources.front().width, ready.sources.front().height};
  return {{"settings", settings},
          {"model", spec.model.workload.content_sha256},
          {"crop_model", spec.crop_model.content_sha256},
          {"provider", spec.model.provider},
          {"device", spec.model.device},
          {"configuration", spec.model.configuration.to_text()},
          {"runtime", ready.runtime},
          {"size", size},
          {"cpu", run.environment ? run.environment->cpu_model : ""}};
}

}  // namespace

std::vector<schema::StreamRun> peak_runs(store::Store& store) {
  std::vector<schema::StreamRun> out;
  // What cannot be read is no peak: the run goes on without.
  const auto runs = store.list_runs(kMostRuns, schema::StreamRun::kLayout.kind);
  if (!runs) return out;
  for (const auto& summary : *runs) {
    auto run = store.load<schema::StreamRun>(summary.id);
    if (!run || !run->request.spec.load || run->request.spec.load->process != "offline") continue;
    if (run->interrupted || !run->error.empty() || run->status.delivered_per_s <= 0) continue;
    out.push_back(*std::move(run));
  }
  return out;
}

std::optional<OwnPeak> own_peak(const std::vector<schema::StreamRun>& peaks, const schema::StreamRun& run,
                                const schema::StreamReady& ready) {
  const auto wanted = pipeline_of(run, ready);
  for (const auto& peak : peaks)
    if (pipeline_of(peak, peak.ready) == wanted) return OwnPeak{peak.id, peak.status.delivered_per_s};
  return std::nullopt;
}

}  // namespace ridgeline::campaign
