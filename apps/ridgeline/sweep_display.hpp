// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "campaign/sweep/sweep_campaign.hpp"
#include "execute/command_runner.hpp"
#include "ridgeline/trial_rows.hpp"
#include "schema/sweep.hpp"

namespace ridgeline::app {

/// Prints each trial's row as it ends; in a terminal what the running one uses stands below.
class SweepDisplay final : public campaign::SweepObserver {
 public:
  explicit SweepDisplay(TrialRows rows) : rows_(rows) {}

  void started(const schema::SweepRun& run) override;
  void trial_started(const schema::SweepTrial& trial, std::size_t remaining) override;
  void trial_finished(const schema::SweepRun& run, const schema::SweepTrial& trial) override;
  void progress(const execute::JobProgress& now);

 private:
  void print_failure(const schema::SweepTrial& trial);

  TrialRows rows_;
  std::vector<schema::SweepParam> parameters_;
  std::string doing_;
  schema::Message last_failure_;
};

}  // namespace ridgeline::app
