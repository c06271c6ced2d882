// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "stream/batch_runner.hpp"
#include "stream/crop_area.hpp"

namespace ridgeline::stream {

struct CropOptions {
  double margin = 0;             ///< of a box's sides, on each side
  std::size_t most = 16;         ///< boxes of a frame
  std::uint32_t batch_size = 8;  ///< crops of one inference at most
  bool pads = false;             ///< batches run in warmed sizes only
};

/// What the first model found in a frame.
struct FoundBoxes {
  std::vector<FoundBox> boxes;
  std::vector<Quad> quads;  ///< as many, where they are not upright; else none
};

/// Batch sizes that are warmed: powers of two below the largest one, and that one.
[[nodiscard]] std::vector<std::uint32_t> warm_batch_sizes(std::uint32_t largest);

/// Runs a second model on what the first one found. One worker's.
class CropStage {
 public:
  /// As BatchRunner::run.
  using Model = std::function<base::Result<BatchTimes>(std::span<const BatchFrame> frames, std::uint32_t executed_size,
                                                       std::span<std::string> results)>;
  CropStage(const CropOptions& options, Model model) : options_(options), model_(std::move(model)) {}

  /// All its batch sizes, with that crop.
  [[nodiscard]] base::Result<void> warm(const Image& crop);
  /// Adds "crop" to the boxes in `results`; `found` has what is in each. Boxes of all frames share batches.
  [[nodiscard]] base::Result<void> run(std::span<const BatchFrame> frames, std::span<const FoundBoxes> found,
                                       std::span<std::string> results);

 private:
  void cut_all(std::span<const BatchFrame> frames, std::span<const FoundBoxes> found);
  [[nodiscard]] std::uint32_t executed_size(std::size_t crops) const;

  CropOptions options_;
  Model model_;
  bool has_one_size_ = false;  ///< all batches run in the largest size, as another one costs more than it saves
  /// Of a box; its memory is used again.
  struct Crop {
    CropArea area;
    Image image;
  };
  std::deque<Crop> cut_;
  std::size_t used_ = 0;  ///< of cut_
  std::vector<BatchFrame> crops_;
  std::vector<std::string> texts_;
};

}  // namespace ridgeline::stream
