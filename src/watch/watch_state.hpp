// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analysis/degradation_cause.hpp"
#include "analysis/drift_detector.hpp"
#include "analysis/probe_figure.hpp"
#include "base/error.hpp"
#include "base/json.hpp"

namespace ridgeline::watch {

/// When the next retune may begin. Each one doubles the pause; a day without a degradation forgets them all.
struct RetunePause {
  static constexpr std::int64_t kFirstS = 15 * 60;
  static constexpr std::int64_t kLongestS = 24 * 3600;

  int retunes = 0;              ///< since the pause was last forgotten
  std::int64_t not_before = 0;  ///< seconds since the epoch; 0: at once
  std::int64_t last_bad = 0;    ///< when a degradation was last seen

  [[nodiscard]] bool allows(std::int64_t now) const noexcept { return now >= not_before; }
  /// 15 min, 30 min, 1 h ... 24 h.
  [[nodiscard]] std::int64_t next_pause_s() const noexcept;
  void after_retune(std::int64_t now) noexcept;
  /// To be called at every probe.
  void see(bool degraded, std::int64_t now) noexcept;
};
RL_DECLARE_JSON(RetunePause)

/// Everything about a watch that survives a restart.
struct WatchState {
  std::string question;  ///< baseline, objective, source: another question starts afresh
  analysis::DriftDetector::State drift;
  std::int64_t probes = 0;
  std::vector<analysis::ProbeFigure> learned;           ///< first probes, with --baseline learn
  std::optional<analysis::ServiceState> healthy;        ///< as it was while nothing was wrong
  std::optional<analysis::ServiceState> maybe_healthy;  ///< on its way there
  std::optional<analysis::ServiceState> steady;         ///< as it was while it was slower, and no slower still
  int calm_probes = 0;                                  ///< since maybe_healthy was set
  int failures = 0;                                     ///< probes failed in a row
  bool failing = false;                                 ///< told
  schema::Message change_told;                          ///< evidence of the last `changed` event
  std::vector<analysis::DegradationCause> suspects;     ///< of the last slow probe
  RetunePause pause;
  base::Json source;                   ///< ProbeSource::position
  std::int64_t no_profile_before = 0;  ///< seconds since the epoch; 0: at once
};
RL_DECLARE_JSON(WatchState)

/// The file that a state lives in, held by one process at a time.
class WatchStateFile {
 public:
  /// Creates the folder and takes the lock. Errors: io (cannot be written), unavailable (another watch holds it).
  [[nodiscard]] static base::Result<WatchStateFile> open(std::filesystem::path path);
  WatchStateFile(WatchStateFile&& other) noexcept;
  WatchStateFile& operator=(WatchStateFile&&) = delete;
  WatchStateFile(const WatchStateFile&) = delete;
  ~WatchStateFile();

  struct Loaded {
    WatchState state;
    bool known = false;  ///< this question was being watched before
    std::string note;    ///< why the state is a fresh one though a file was there
  };
  /// What the file holds for this question, or a fresh state.
  [[nodiscard]] Loaded load(const std::string& question) const;
  [[nodiscard]] base::Result<void> save(const WatchState& state) const;
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  WatchStateFile(std::filesystem::path path, int lock) : path_(std::move(path)), lock_(lock) {}
  std::filesystem::path path_;
  int lock_ = -1;
};

}  // namespace ridgeline::watch
