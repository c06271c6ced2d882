// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "stream/frame_source.hpp"
#include "stream/input_file.hpp"
#include "stream/raw_format.hpp"
#include "stream/wake_event.hpp"

namespace ridgeline::stream {

/// Frames without headers from a pipe or file. What follows the last whole frame is told in notes; input that ends
/// before the first one is an error (corrupt).
class RawSource final : public FrameSource {
 public:
  RawSource(std::string name, const RawFormat& format, InputFile file);

  [[nodiscard]] const SourceInfo& info() const noexcept override { return info_; }
  [[nodiscard]] base::Result<std::optional<std::int64_t>> next(Image& image) override;
  void interrupt() noexcept override { stop_.set(); }
  [[nodiscard]] std::vector<schema::Message> notes() const override { return notes_; }

 private:
  SourceInfo info_;
  RawFormat format_;
  InputFile file_;
  WakeEvent stop_;
  std::int64_t frames_ = 0;
  bool ended_ = false;
  std::vector<schema::Message> notes_;
};

}  // namespace ridgeline::stream
