// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/batch_decoder.hpp"

namespace ridgeline::workload {
namespace {

bool is_integer(ElementType type) {
  return type != ElementType::float32 && type != ElementType::float64 && type != ElementType::float16 &&
         type != ElementType::bfloat16;
}

}  // namespace

BatchDecoder::BatchDecoder(const OrtEnvironment& environment, const std::vector<OrtPort>& outputs)
    : environment_(environment),
      outputs_(outputs),
      read_(outputs.size()),
      views_(outputs.size()),
      bytes_(outputs.size()) {}

base::Result<void> BatchDecoder::read(const std::vector<OrtValueHandle>& values) {
  for (std::size_t at = 0; at < values.size(); ++at)
    RL_TRY(read_[at].read(environment_.api(), values[at].get(), outputs_[at]));
  return {};
}

base::Result<void> BatchDecoder::decode(const GroupedFrames& grouped, const FrameGroup& group,
                                        std::span<const stream::BatchFrame> frames, std::span<std::string> results) {
  for (std::size_t i = 0; i < group.places.size(); ++i) {
    const auto place = group.places[i];
    RL_TRY(row(group.rows, i));
    auto& result = results[place];
    result.clear();
    RL_TRY(decoder_->decode(views_, grouped.geometries[place], result));
    RL_TRY(keep_tensors(frames[place]));
    if (!keeps_boxes_) continue;
    const auto boxes = decoder_->boxes();
    const auto quads = decoder_->quads();
    found_[place].boxes.assign(boxes.begin(), boxes.end());
    found_[place].quads.assign(quads.begin(), quads.end());
  }
  return {};
}

base::Result<std::span<const stream::OutputView>> BatchDecoder::row(std::int64_t rows, std::size_t row) {
  for (std::size_t at = 0; at < read_.size(); ++at) {
    const auto dims = read_[at].dims();
    const auto& name = outputs_[at].description.name;
    const bool by_frame = !dims.empty() && dims[0] == rows;
    if (!by_frame && rows > 1)
      return base::fail(base::ErrorCode::invalid_argument,
                        "output {} has {} rows for a batch of {}; expected one for each frame", name,
                        dims.empty() ? 0 : dims[0], rows)
          .hint("set batch_size: 1");
    const auto share = [&](auto all) {
      const auto size = by_frame ? all.size() / static_cast<std::size_t>(rows) : all.size();
      return decltype(all)(all.data() + (by_frame ? row * size : 0), size);
    };
    views_[at] = {name, by_frame ? dims.subspan(1) : dims, share(read_[at].values()), is_integer(read_[at].type())};
    bytes_[at] = share(read_[at].bytes());
  }
  return std::span<const stream::OutputView>(views_);
}

base::Result<void> BatchDecoder::keep_tensors(const stream::BatchFrame& frame) const {
  if (tensors_ == nullptr || frame.is_sample) return {};
  for (std::size_t at = 0; at < read_.size(); ++at)
    RL_TRY(tensors_->write(frame.source, frame.sequence, at, read_[at].type(), views_[at].dims, bytes_[at]));
  return {};
}

}  // namespace ridgeline::workload
