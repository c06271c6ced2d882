// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "doctor/check.hpp"
#include "doctor/facts.hpp"

namespace ridgeline::doctor {

/// One GPU's part of a check.
struct GpuVerdict {
  CheckStatus status = CheckStatus::ok;
  schema::Message evidence;
  schema::Message fix;
  std::vector<std::string> commands;
};

struct DeviceVerdict {
  std::string device;  ///< "GPU 3"; "" for an only one that goes without saying
  GpuVerdict verdict;
};

/// Status, evidence, fix and commands of a check over at least one device: "all 8: x" when they agree, else the
/// devices with the worst verdicts by name. Skipped only when every device is.
void fold_verdicts(std::vector<DeviceVerdict> verdicts, Check& check);

/// Judges every GPU and makes one line of it: "all 8: x" when they agree, else the GPUs with the worst verdicts by
/// number. The check is skipped only when every GPU is, and without GPUs.
[[nodiscard]] Check check_each_gpu(const std::string& id, schema::Message title, const Facts& facts,
                                   const std::function<GpuVerdict(const GpuFacts&)>& judge_one);

/// A message as it is shown: devices whose values read alike are alike.
[[nodiscard]] std::string as_shown(const schema::Message& message);

/// "GPU 3", or its UUID where it has no number.
[[nodiscard]] std::string gpu_label(const schema::GpuDescription& gpu);

}  // namespace ridgeline::doctor
