// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <deque>
#include <vector>

#include "device.hpp"
#include "plugin_abi.h"

namespace ridgeline::torch_plugin {

/// What the batches are like.
struct DataForm {
  std::vector<std::int64_t> sample;  ///< axes of one sample's input
  at::ScalarType input_type = at::kFloat;
  bool has_label = true;
  std::vector<std::int64_t> label;  ///< axes of one sample's label, none for a number
  at::ScalarType label_type = at::kLong;
  [[nodiscard]] bool class_labels() const { return label.empty() && at::isIntegralType(label_type, true); }
};

struct Batch {
  at::Tensor input;
  at::Tensor label;  ///< undefined where the data have none
};

/// Batches for a trial: from the source, step by step or a few of them kept; without a source random numbers.
class Feed {
 public:
  /// How a source's batches look, asked of the source.
  [[nodiscard]] static DataForm describe(const rl_train_source& source);

  /// `source` may be nullptr; `classes`: random labels below it.
  Feed(const rl_train_request& request, const rl_train_source* source, DataForm form, std::int64_t classes,
       const TrainingDevice& device);
  Feed(const Feed&) = delete;
  Feed& operator=(const Feed&) = delete;
  ~Feed();

  /// Keeps a few batches where the request wants them. Called once, when the model stands: what does not fit then would
  /// not fit in training either.
  void prepare();
  /// The next batch where it lies: on the host, or already on the device. Waits for the source.
  [[nodiscard]] Batch next();
  /// The same on the device.
  [[nodiscard]] Batch to_device(const Batch& batch) const;
  /// The step's work with the batch was given to the device: its host memory goes back when the copies are done.
  void done();

 private:
  struct Lent {
    rl_train_batch batch;
    c10::Event copied{c10::DeviceType::CUDA};
  };
  [[nodiscard]] Batch from_source();
  [[nodiscard]] Batch random() const;
  [[nodiscard]] Batch copy_of(const Batch& batch, bool pinned) const;
  void give_back(std::size_t keep);

  const rl_train_request& request_;
  const rl_train_source* source_;
  DataForm form_;
  std::int64_t classes_;
  const TrainingDevice& device_;
  bool pinned_;
  bool has_current_ = false;
  rl_train_batch current_{};
  std::deque<Lent> lent_;
  std::vector<Batch> kept_;
  std::size_t turn_ = 0;
};

}  // namespace ridgeline::torch_plugin
