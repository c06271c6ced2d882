// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/error.hpp"
#include "loader/dataset_layout.hpp"

struct libdeflate_decompressor;

namespace ridgeline::loader {

/// HDF5's Fletcher-32 of filter 3 (16-bit words, big-endian, an odd last byte as high byte).
[[nodiscard]] std::uint32_t fletcher32(std::span<const std::byte> data) noexcept;

/// Undoes a filter pipeline. Keeps its decompressor and buffers between calls: one object a thread.
class FilterPipeline {
 public:
  FilterPipeline();
  FilterPipeline(FilterPipeline&&) noexcept;
  FilterPipeline& operator=(FilterPipeline&&) noexcept;
  ~FilterPipeline();

  /// `stored` (a chunk as it lies in the file) to exactly `out.size()` bytes. Steps whose bit is set in `mask` were not
  /// applied. Errors: corrupt (broken stream, wrong checksum, another length), without file and chunk: the caller adds
  /// them.
  [[nodiscard]] base::Result<void> undo(const std::vector<FilterStep>& steps, std::uint32_t mask,
                                        std::span<const std::byte> stored, std::span<std::byte> out);

 private:
  struct FreeDecompressor {
    void operator()(libdeflate_decompressor* decompressor) const noexcept;
  };
  std::unique_ptr<libdeflate_decompressor, FreeDecompressor> decompressor_;
  std::vector<const FilterStep*> applied_;
  std::vector<std::byte> first_;
  std::vector<std::byte> second_;
};

}  // namespace ridgeline::loader
