// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "campaign/stream/stream_campaign.hpp"
#include "ridgeline/subcommand.hpp"
#include "ridgeline/tune_flags.hpp"

namespace ridgeline::app {

/// The flags of `ridgeline stream run` and `ridgeline stream bench`.
struct StreamFlags {
  TuneFlags model;  ///< those that say what is run, and how
  std::vector<std::string> sources;
  std::string crop_model;
  std::string settings;
  std::string raw;
  std::int64_t copies = 1;
  std::int64_t frames = 0;
  std::string video;
  std::string tensors;
  bool realtime = false;
  bool live = false;
  double reconnect_s = 30;
  std::string camera;
  std::string rtsp_transport = "tcp";
  std::vector<std::string> stream_set;
  std::optional<double> slo_s;
  std::string labels;
  std::string crop_labels;
  std::string output;  ///< results, one line per frame
  ReportFlags report;
  bool json = false;
  std::string prometheus;
  std::string live_json;
  std::string ready;
  std::string latency_socket;
  bool headless = false;
  bool quiet = false;
  // of bench
  std::vector<double> rates;
  std::string process = "fixed";
  double jitter = 0;
  double variation = 3;
  std::string trace;
  std::optional<double> duration_s;
  double most_drops = 0.001;
  std::int64_t seed = 1;

  [[nodiscard]] bool talks() const { return !quiet && !json; }
};

void add_stream_flags(CLI::App& command, Context& context, StreamFlags& flags);
/// Those of `bench` alone.
void add_load_flags(CLI::App& command, Context& context, StreamFlags& flags);

/// Reads --config, --labels and the settings, so that every fault is found before anything is started.
[[nodiscard]] base::Result<campaign::StreamCampaignRequest> read_stream_flags(const StreamFlags& flags,
                                                                              const Context& context, bool is_bench);

}  // namespace ridgeline::app
