// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/error.hpp"
#include "loader/loader.hpp"
#include "workload/training/plugin_abi.h"
#include "workload/training/training_data.hpp"

namespace ridgeline::workload {

/// Batches from an HDF5 file for a training plugin, in page-locked memory of the plugin's where asked for. Endless:
/// epoch after epoch in a new order. One thread; lives longer than the trial that it feeds.
class Hdf5Source {
 public:
  struct Settings {
    std::int64_t batch = 1;
    int workers = 0;
    bool pinned = false;
    std::uint64_t seed = 1;
  };
  /// Errors: those of the loader; invalid_argument for a data set smaller than a batch and for elements that a plugin
  /// has no number for; unavailable when there is no page-locked memory.
  [[nodiscard]] static base::Result<std::unique_ptr<Hdf5Source>> open(const TrainingData& data,
                                                                      const Settings& settings,
                                                                      const rl_train_api& plugin);
  Hdf5Source(const Hdf5Source&) = delete;
  Hdf5Source& operator=(const Hdf5Source&) = delete;

  /// For rl_train_api::create.
  [[nodiscard]] const rl_train_source& interface() const noexcept { return interface_; }
  [[nodiscard]] loader::LoaderStatistics statistics() const { return loader_->statistics(); }

 private:
  Hdf5Source(std::unique_ptr<loader::Loader> loader, const Settings& settings, bool has_labels);
  [[nodiscard]] base::Result<void> next(rl_train_batch& out);
  void describe(rl_train_batch& out) const;
  void release(const rl_train_batch& batch);

  std::unique_ptr<loader::Loader> loader_;
  Settings settings_;
  bool has_labels_;
  std::uint64_t epoch_ = 0;
  bool started_ = false;
  std::vector<std::unique_ptr<loader::Batch>> lent_;
  rl_train_source interface_{};
};

}  // namespace ridgeline::workload
