// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <optional>

#include "base/error.hpp"
#include "base/json.hpp"
#include "schema/gpu_ceilings.hpp"
#include "schema/tune_run.hpp"

namespace ridgeline::campaign {

/// What each GPU reaches, a small file a card in a folder: measured once for a card, driver and cuBLAS.
class CeilingsCache {
 public:
  using Measure = std::function<base::Result<schema::GpuCeilings>()>;
  /// An empty folder remembers nothing.
  explicit CeilingsCache(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// Of the run's GPU, as far as it was measured before.
  [[nodiscard]] std::optional<schema::GpuCeilings> known(const schema::TuneRun& run) const;

  /// Of the run's GPU. A file that is damaged or of another card is measured again; a folder that cannot be written is
  /// no error. Errors: those of `measure`.
  [[nodiscard]] base::Result<schema::GpuCeilings> get(const schema::TuneRun& run, const Measure& measure) const;

 private:
  [[nodiscard]] std::filesystem::path path_of(const base::Json& question) const;

  std::filesystem::path folder_;
};

}  // namespace ridgeline::campaign
