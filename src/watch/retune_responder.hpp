// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "campaign/tune/tune_campaign.hpp"
#include "config/config_patch.hpp"
#include "watch/watch_loop.hpp"

namespace ridgeline::watch {

/// Tunes again when a service became slower, within a time budget, and writes what is faster beyond doubt into the file
/// of settings, with a backup. What tuning cannot fix (heat, power, other processes, a busy machine) gets
/// RetunePause::kFirstS to pass by itself; further retunes wait as RetunePause says.
class RetuneResponder final : public Responder {
 public:
  struct Options {
    std::filesystem::path config;
    config::PatchOptions patch;
    base::Nanoseconds budget{300'000'000'000};
    std::string search = "quick";
    std::string ort_library;
    std::vector<std::string> arguments;  ///< RunRequest::arguments
    std::function<std::unique_ptr<execute::Executor>()> make_executor;
    std::function<schema::Environment()> environment;
    std::filesystem::path reference_folder;
    std::filesystem::path ceilings_folder;
    schema::Configuration reference;  ///< as TuneRequest's
    schema::Configuration gpu_reference;
  };

  RetuneResponder(Options options, Baseline baseline, store::Store& store, ProbeSource& source,
                  const base::Clock& clock, campaign::CampaignObserver& observer, std::function<bool()> cancelled);

  [[nodiscard]] base::Result<Response> respond(const WatchEvent& event, WatchState& state) override;
  [[nodiscard]] base::Result<Response> still_degraded(const WatchEvent& event, WatchState& state) override;
  void set_baseline(Baseline baseline) { baseline_ = std::move(baseline); }

  /// The question that the run answered, asked again for the settings that the file holds now. Errors: the file.
  [[nodiscard]] base::Result<campaign::TuneRequest> request() const;
  /// Lies outside of what settings can fix.
  [[nodiscard]] static bool passes_by_itself(const WatchEvent& event);

 private:
  [[nodiscard]] base::Result<Response> retune(WatchState& state);
  [[nodiscard]] base::Result<Response> tune_and_apply();

  Options options_;
  Baseline baseline_;
  store::Store& store_;
  ProbeSource& source_;
  const base::Clock& clock_;
  campaign::CampaignObserver& observer_;
  std::function<bool()> cancelled_;
};

}  // namespace ridgeline::watch
