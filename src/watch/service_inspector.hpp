// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/degradation_cause.hpp"
#include "base/error.hpp"
#include "config/config_patch.hpp"
#include "execute/calls.hpp"
#include "execute/executor.hpp"
#include "host/cpu_use.hpp"
#include "schema/workload_ref.hpp"

namespace ridgeline::watch {

/// What the file of settings of a watched service holds, `unread` as config::read_settings has it. Errors: as that, or
/// the file cannot be read.
[[nodiscard]] base::Result<std::vector<config::FoundSetting>> read_watched_settings(
    const std::filesystem::path& file, const config::PatchOptions& patch, std::vector<config::UnreadSetting>& unread);

/// Finds out what a service consists of now: the settings in its file, its model, the runtime, the machine. What is on
/// disk is read again only when it changed, so that this can be done at every probe.
class ServiceInspector {
 public:
  struct Options {
    schema::WorkloadRef workload;  ///< shapes concrete
    std::string provider;          ///< ExecutionProvider::id of the baseline
    std::string ort_library;       ///< "": as `tune` finds it
    std::string device;            ///< TrialSpec::device: a GPU must be among those of the environment
    std::filesystem::path config;  ///< "": the configuration is `recommended`
    config::PatchOptions patch;
    schema::Configuration recommended;  ///< the baseline's
    std::function<std::unique_ptr<execute::Executor>()> make_executor;
    std::function<schema::Environment()> environment;
  };

  explicit ServiceInspector(Options options) : options_(std::move(options)) {}

  /// Sets everything but gpu, gpu_busy_percent and disturbance. Errors, each naming the file and the reason: the file
  /// of settings or the model cannot be read, no runtime.
  [[nodiscard]] base::Result<void> inspect(analysis::ServiceState& state);
  /// The same with nothing remembered, in a fresh worker; what cannot be read stays as it is in `state`.
  void inspect_afresh(analysis::ServiceState& state);

  [[nodiscard]] execute::Executor& executor();
  /// Ends the worker.
  void release() { executor_.reset(); }
  void forget();
  void set_recommended(schema::Configuration configuration) { options_.recommended = std::move(configuration); }

 private:
  /// Tells one version of a file from the next without reading it.
  struct FileStamp {
    std::uint64_t inode = 0;
    std::int64_t size = -1;
    std::int64_t changed_ns = 0;
    friend bool operator==(const FileStamp&, const FileStamp&) = default;
  };
  [[nodiscard]] static FileStamp stamp_of(const std::string& path);
  [[nodiscard]] base::Result<schema::Configuration> read_configuration() const;
  [[nodiscard]] base::Result<void> check_device(const schema::Environment& environment) const;

  Options options_;
  host::CpuUse cpu_use_;
  std::unique_ptr<execute::Executor> executor_;
  std::optional<schema::RuntimeIdentity> runtime_;
  FileStamp library_stamp_;
  std::optional<std::string> model_sha256_;
  FileStamp model_stamp_;
};

}  // namespace ridgeline::watch
