// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <vector>

#include "fakes/tiny_onnx.hpp"

namespace ridgeline::fakes {

/// Models of pictures [N, 3, side, side] that find the same whatever they see, for every frame of a batch: an output
/// is constant values with a batch in front, added to nothing of the picture.
class ConstantModel {
 public:
  explicit ConstantModel(int side = 8) {
    const auto text = std::to_string(side);
    model_.input("images", 1, {"N", "3", text, text}).floats("zero", {1}, {0});
  }
  /// `dims` without the batch.
  ConstantModel& output(const std::string& name, const std::vector<std::int64_t>& dims,
                        const std::vector<float>& values) {
    TinyOnnx::Names declared{"N"};
    std::vector<std::int64_t> one{1};
    for (const auto dim : dims) {
      declared.push_back(std::to_string(dim));
      one.push_back(dim);
    }
    // The mean over all of a frame has as many dimensions as the picture: brought to as many as the output.
    std::vector<std::int64_t> shape(one.size(), 1);
    shape[0] = -1;
    model_.floats(name + "_values", one, values)
        .node("ReduceMean", {"images"}, {name + "_mean"},
              {TinyOnnx::ints_attribute("axes", {1, 2, 3}), TinyOnnx::int_attribute("keepdims", 0)})
        .integers(name + "_ones", shape)
        .node("Reshape", {name + "_mean", name + "_ones"}, {name + "_batch"})
        .node("Mul", {name + "_batch", "zero"}, {name + "_nothing"})
        .node("Add", {name + "_nothing", name + "_values"}, {name})
        .output(name, 1, declared);
    return *this;
  }
  [[nodiscard]] TinyOnnx& model() { return model_; }

 private:
  TinyOnnx model_;
};

/// YOLO without anything left to suppress: corners, score, class.
inline TinyOnnx final_boxes_model(const std::vector<std::array<float, 6>>& boxes) {
  std::vector<float> values;
  for (const auto& box : boxes) values.insert(values.end(), box.begin(), box.end());
  return ConstantModel().output("output0", {static_cast<std::int64_t>(boxes.size()), 6}, values).model();
}

/// RT-DETR as it exports itself: one box, the middle half of what `orig_target_sizes` says.
inline TinyOnnx sizes_model() {
  return ConstantModel()
      .output("labels", {1}, {2})
      .output("scores", {1}, {0.75F})
      .model()
      .input("orig_target_sizes", 7, {"N", "2"})
      .node("Cast", {"orig_target_sizes"}, {"sizes"}, {TinyOnnx::int_attribute("to", 1)})
      .node("Concat", {"sizes", "sizes"}, {"corners"}, {TinyOnnx::int_attribute("axis", 1)})
      .floats("middle", {1, 4}, {0.25F, 0.25F, 0.75F, 0.75F})
      .node("Mul", {"corners", "middle"}, {"row"})
      .integers("box_shape", {-1, 1, 4})
      .node("Reshape", {"row", "box_shape"}, {"boxes"})
      .output("boxes", 1, {"N", "1", "4"});
}

/// One keypoint at that place of the input, in a map of its size.
inline TinyOnnx heatmap_model(int side, int x, int y) {
  std::vector<float> map(static_cast<std::size_t>(side * side), 0);
  map[static_cast<std::size_t>(y * side + x)] = 1;
  return ConstantModel(side).output("heatmaps", {1, side, side}, map).model();
}

}  // namespace ridgeline::fakes
