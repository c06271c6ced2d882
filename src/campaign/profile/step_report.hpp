// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/json.hpp"
#include "schema/message.hpp"

namespace ridgeline::campaign {

/// Steps that were timed together: the GPU was waited for behind them only.
struct StepBlock {
  std::int64_t steps = 0;
  std::int64_t ns = 0;
};
RL_DECLARE_JSON(StepBlock)

/// What the first call of a model returned.
struct StepOutputs {
  std::vector<std::string> tensors;           ///< name, type and shape
  std::vector<std::optional<double>> values;  ///< evenly spread; nullopt: not finite
};
RL_DECLARE_JSON(StepOutputs)

/// What a process did about its change.
struct ChangeReport {
  std::string name;
  std::int64_t count = 0;  ///< how often it was made
  std::string reason;      ///< why it took no effect, a word of messages::verify_ineffective; "": it did
  std::string detail;      ///< what a library said of that
};
RL_DECLARE_JSON(ChangeReport)

/// What one process of a program wrote about its steps (python/ridgeline_profile/verify/report.py).
struct StepReport {
  std::int64_t steps = 0;
  std::vector<StepBlock> blocks;
  std::int64_t warm_up = 0;  ///< blocks that do not count
  bool trains = false;
  bool is_cut = false;  ///< it ended the program once it had enough steps
  std::optional<StepOutputs> outputs;
  std::map<std::string, double> losses;  ///< by the number of the backward pass
  std::optional<ChangeReport> change;

  /// Of a step behind the warm-up; nullopt: too few blocks.
  [[nodiscard]] std::optional<double> median_ns() const;
  /// Why the change took no effect; empty: it did.
  [[nodiscard]] schema::Message ineffective() const;
};
RL_DECLARE_JSON(StepReport)

/// Of the processes that wrote one into the folder, the one with the most steps; nullopt: none did.
[[nodiscard]] std::optional<StepReport> read_step_report(const std::filesystem::path& folder);

/// What the outputs and losses of both sides say; `again`: of the present a second time, without which random outputs
/// are taken for a difference.
[[nodiscard]] std::vector<schema::Message> compare_results(const StepReport& present, const StepReport& again,
                                                           const StepReport& changed);

}  // namespace ridgeline::campaign
