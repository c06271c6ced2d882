// SPDX-License-Identifier: Apache-2.0
#include "campaign/profile/model_recording.hpp"

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "campaign/messages.hpp"
#include "campaign/profile/record_environment.hpp"
#include "trace/messages.hpp"
#include "trace/record/recording.hpp"
#include "trace/record/work_of_runs.hpp"

namespace ridgeline::campaign {

ModelRecording::ModelRecording(const base::Result<std::string>& library) : scratch_("record") {
  if (!library) {
    why_not_ = base::error_line(library.error());
  } else if (scratch_.path().empty()) {
    why_not_ = "no temporary folder can be made";
  } else {
    auto of_workers = record_environment(std::filesystem::absolute(scratch_.path()).string(), *library, "", {});
    if (const auto& other = of_workers.other_injection; !other.empty())
      why_not_ = "CUDA_INJECTION64_PATH names another library, " + other;
    else
      environment_ = std::move(of_workers.variables);
  }
}

schema::Message ModelRecording::add_work(std::int64_t start_ns, trace::Trace& trace) const {
  if (trace.kernels.size() > 0) return {};  // ONNX Runtime recorded them
  if (!why_not_.empty()) return messages::model_not_recorded(why_not_);
  auto recording = trace::read_recording(scratch_.path());
  if (!recording) return messages::model_not_recorded(base::error_line(recording.error()));
  trace::add_work_of_runs(std::move(recording->trace), start_ns, trace);
  const auto& all = recording->processes;
  if (trace.kernels.size() > 0) {
    const auto dropped = std::accumulate(all.begin(), all.end(), std::int64_t{0},
                                         [](auto sum, const auto& one) { return sum + one.dropped; });
    return dropped > 0 ? trace::messages::recording_dropped(dropped) : schema::Message();
  }
  const auto reason = std::find_if(all.begin(), all.end(), [](const auto& one) { return !one.why.empty(); });
  return messages::model_not_recorded(reason == all.end() ? "CUDA did not open the library that records" : reason->why);
}

}  // namespace ridgeline::campaign
