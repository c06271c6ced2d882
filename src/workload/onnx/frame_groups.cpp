// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/frame_groups.hpp"

#include <algorithm>

namespace ridgeline::workload {

void GroupedFrames::plan(const FrameGroup& group, std::span<const stream::BatchFrame> frames,
                         std::vector<stream::PlannedFrame>& out) const {
  out.clear();
  for (const auto place : group.places) out.push_back({frames[place].image, geometries[place]});
}

base::Result<void> group_frames(std::span<const stream::BatchFrame> frames, std::uint32_t executed_size,
                                const stream::Preprocessor& preprocessor, const ImageInput& input, GroupedFrames& out) {
  auto& groups = out.groups;
  groups.clear();
  out.geometries.clear();
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const auto& image = *frames[i].image;
    RL_TRY_ASSIGN(const auto geometry, preprocessor.plan(image.width, image.height, input.width, input.height));
    out.geometries.push_back(geometry);
    if (frames[i].crop != nullptr) out.geometries.back().crop = *frames[i].crop;
    auto found = std::find_if(groups.begin(), groups.end(), [&](const FrameGroup& group) {
      return group.geometry.input_width == geometry.input_width && group.geometry.input_height == geometry.input_height;
    });
    if (found == groups.end()) found = groups.insert(groups.end(), FrameGroup{geometry, 0, {}});
    found->places.push_back(i);
  }
  for (auto& one : groups)
    one.rows = input.batch > 0      ? input.batch
               : groups.size() == 1 ? static_cast<std::int64_t>(executed_size)
                                    : static_cast<std::int64_t>(one.places.size());
  return {};
}

base::Result<OrtValueHandle> make_size_tensor(const OrtApi& api, const SizeInput& input, const FrameGroup& group) {
  Tensor tensor{input.type, {input.rows < 0 ? group.rows : input.rows, 2}, {}};
  const auto append = [&]<typename T>(T value) {
    tensor.bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  for (std::int64_t row = 0; row < tensor.dims[0]; ++row)
    for (const int side : {group.geometry.input_width, group.geometry.input_height}) switch (input.type) {
        case ElementType::int32: append(std::int32_t{side}); break;
        case ElementType::float32: append(static_cast<float>(side)); break;
        default: append(std::int64_t{side}); break;
      }
  return make_ort_tensor(api, tensor);
}

}  // namespace ridgeline::workload
