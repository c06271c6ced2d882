// SPDX-License-Identifier: Apache-2.0
#include "watch/recorded_service.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "campaign/profile/record_campaign.hpp"
#include "execute/idle_recorder.hpp"
#include "gpu/nvml_device.hpp"
#include "schema/run_request.hpp"

namespace ridgeline::watch {

using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

/// Processes on the GPU, by their memory from the most on; empty where the driver lists none.
std::vector<schema::GpuNeighbour> processes_on(const ServiceRecording& recording) {
  if (recording.gpu.empty()) return {};
  const auto api = gpu::NvmlApi::load(recording.nvml);
  if (!api) return {};
  const auto handle = (*api)->device_by_uuid(recording.gpu);
  if (!handle) return {};
  auto out = gpu::NvmlDevice(*api, *handle).compute_processes().value_or(std::vector<schema::GpuNeighbour>());
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) {
    return a.memory_bytes.value_or(0) > b.memory_bytes.value_or(0);
  });
  return out;
}

}  // namespace

Result<std::int64_t> find_service(const ServiceRecording& recording) {
  const auto waiting = execute::idle_recorders();
  for (const auto& process : processes_on(recording))
    if (std::find(waiting.begin(), waiting.end(), process.pid) != waiting.end()) return process.pid;
  if (waiting.size() == 1) return waiting.front();
  if (waiting.empty())
    return fail(ErrorCode::not_found, "no process of this user has a recorder")
        .hint("start the service with ridgeline profile --idle -- COMMAND, as the user that watches");
  return fail(ErrorCode::not_found, "{} processes have a recorder, and the driver lists none of them on the GPU",
              waiting.size())
      .hint("record the right one: ridgeline profile --pid PID");
}

Result<ServiceProfile> record_service(const ServiceRecording& recording, store::Store& store) {
  RL_TRY_ASSIGN(const auto pid, find_service(recording));
  RL_TRY_ASSIGN(const auto recorder, execute::IdleRecorder::find(pid));
  campaign::RecordRequest request;
  request.options.of_running = true;
  request.options.counting = campaign::Counting::none;
  request.options.duration_s = recording.duration_s;
  request.options.max_events = campaign::readable_events(1);
  request.library = recording.library;
  request.python_folder = recording.python_folder;
  request.trace_folder = recording.trace_folder;
  request.arguments = recording.arguments;
  request.command = recorder.command();
  request.directory = recorder.directory();
  campaign::RecordCampaign campaign(std::move(request), store);
  RL_TRY(campaign.check());
  RL_TRY(campaign.wake(recorder));
  RL_TRY_ASSIGN(const auto made, campaign.profile());
  return ServiceProfile{made.run.id, pid, schema::shell_line(recorder.command())};
}

}  // namespace ridgeline::watch
