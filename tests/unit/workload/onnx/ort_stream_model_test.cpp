// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/ort_stream_model.hpp"

#include <algorithm>

#include "base/json.hpp"
#include "fakes/stream_models.hpp"
#include "unit/workload/onnx/ort_fixture.hpp"
#include "workload/half.hpp"
#include "workload/onnx/npy_file.hpp"

namespace ridgeline::workload {
namespace {

constexpr int kFloatTensor = 1;
constexpr int kHalfTensor = 10;

/// A picture of one value.
stream::Image grey_picture(std::uint8_t value, int width = 8, int height = 8) {
  stream::Image image;
  image.width = width;
  image.height = height;
  image.bytes.assign(stream::image_bytes(width, height, image.format), value);
  return image;
}

/// Models as the stage of a stream.
class OrtStreamModelTest : public OrtTest {
 protected:
  OrtStreamModelTest() {
    wanted_.settings.streams = 1;
    wanted_.settings.decoder = "none";
    wanted_.model.configuration = one_thread();
  }
  base::Result<std::unique_ptr<StreamModel>> make(const fakes::TinyOnnx& model) {
    wanted_.model.workload.kind = "onnx";
    wanted_.model.workload.location = model.write(folder_ / "model.onnx");
    return make_ort_stream_model({wanted_, 8, 8}, test_search());
  }
  /// One batch of pictures of these values; frame i of source 3.
  base::Result<std::vector<base::Json>> run(StreamModel& model, const std::vector<std::uint8_t>& values) {
    std::vector<stream::Image> images;
    for (const auto value : values) images.push_back(grey_picture(value));
    std::vector<stream::BatchFrame> frames;
    for (const auto& image : images) frames.push_back({.image = &image, .source = 3, .sequence = frames.size()});
    std::vector<std::string> texts(frames.size());
    RL_TRY(model.run(0, frames, static_cast<std::uint32_t>(frames.size()), texts));
    std::vector<base::Json> results;
    for (const auto& text : texts) {
      RL_TRY_ASSIGN(auto json, base::parse_json(text, "result"));
      results.push_back(std::move(json));
    }
    return results;
  }
  [[nodiscard]] std::vector<std::string> files(const std::filesystem::path& folder) const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }

  schema::StreamSpec wanted_;
};

/// Mean colours and their halves, and the input itself.
fakes::TinyOnnx means_model() {
  return fakes::TinyOnnx()
      .input("images", kFloatTensor, {"N", "3", "8", "8"})
      .output("scores/mean:0", kFloatTensor, {"N", "3", "1", "1"})
      .output("half", kHalfTensor, {"N", "3", "1", "1"})
      .node("GlobalAveragePool", {"images"}, {"scores/mean:0"})
      .node("Cast", {"scores/mean:0"}, {"half"}, {fakes::TinyOnnx::int_attribute("to", kHalfTensor)});
}

TEST_F(OrtStreamModelTest, keeps_each_frames_share_of_the_outputs) {
  const auto folder = folder_ / "deep" / "tensors";
  wanted_.tensors = folder.string();
  wanted_.settings.batch_size = 4;
  const auto model = make(means_model());
  ASSERT_TRUE(model) << model.error().message;
  const auto results = run(**model, {0, 51, 255});
  ASSERT_TRUE(results) << results.error().message;
  EXPECT_EQ(files(folder),
            (std::vector<std::string>{"3-0.half.npy", "3-0.scores_mean_0.npy", "3-1.half.npy", "3-1.scores_mean_0.npy",
                                      "3-2.half.npy", "3-2.scores_mean_0.npy"}));
  const auto tensor = read_npy(folder / "3-1.scores_mean_0.npy");
  ASSERT_TRUE(tensor) << tensor.error().message;
  EXPECT_EQ(tensor->type, ElementType::float32);
  EXPECT_EQ(tensor->dims, (std::vector<std::int64_t>{3, 1, 1}));
  std::array<float, 3> values{};
  std::memcpy(values.data(), tensor->bytes.data(), sizeof values);
  for (const float value : values) EXPECT_NEAR(value, 0.2F, 1e-6F);
  const auto half = read_npy(folder / "3-2.half.npy");
  ASSERT_TRUE(half) << half.error().message;
  EXPECT_EQ(half->type, ElementType::float16);
  std::uint16_t bits = 0;
  std::memcpy(&bits, half->bytes.data(), sizeof bits);
  EXPECT_NEAR(half_to_float(bits), 1, 1e-3);
}

TEST_F(OrtStreamModelTest, has_no_tensors_of_samples) {
  wanted_.tensors = (folder_ / "tensors").string();
  const auto model = make(means_model());
  ASSERT_TRUE(model) << model.error().message;
  const auto image = grey_picture(0);
  const stream::BatchFrame frame{.image = &image, .is_sample = true};
  std::string result;
  ASSERT_TRUE((*model)->run(0, {&frame, 1}, 1, {&result, 1}));
  EXPECT_TRUE(files(wanted_.tensors).empty());
}

TEST_F(OrtStreamModelTest, refuses_a_folder_for_tensors_that_cannot_be) {
  wanted_.tensors = "/proc/no/tensors";
  const auto model = make(means_model());
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().code, base::ErrorCode::io);
  EXPECT_NE(model.error().message.find("cannot create the folder /proc/no/tensors"), std::string::npos)
      << model.error().message;
}

TEST_F(OrtStreamModelTest, runs_a_second_model_on_what_the_first_one_finds) {
  wanted_.settings.decoder = "yolo";
  wanted_.settings.batch_size = 2;
  wanted_.settings.crop.decoder = "heatmap";
  wanted_.settings.crop.batch_size = 3;
  wanted_.settings.crop.labels = {"nose"};
  wanted_.crop_model.location = fakes::heatmap_model(8, 4, 2).write(folder_ / "pose.onnx");
  const auto model = make(fakes::final_boxes_model({{4, 2, 8, 6, 0.9F, 1}, {0, 0, 8, 8, 0.8F, 0}}));
  ASSERT_TRUE(model) << model.error().message;
  const auto results = run(**model, {10, 20});
  ASSERT_TRUE(results) << results.error().message;
  for (const auto& result : *results)
    EXPECT_EQ(
        result.dump(),
        R"({"boxes":[)"
        R"({"box":[4.0,2.0,8.0,6.0],"class":1,"crop":{"keypoints":[{"label":"nose","point":[6.0,3.0],"score":1}]},"score":0.9},)"
        R"({"box":[0.0,0.0,8.0,8.0],"class":0,"crop":{"keypoints":[{"label":"nose","point":[4.0,2.0],"score":1}]},"score":0.8}]})");
}

TEST_F(OrtStreamModelTest, feeds_the_sizes_that_rt_detr_asks_for) {
  wanted_.settings.decoder = "auto";
  wanted_.settings.batch_size = 3;
  const auto model = make(fakes::sizes_model());
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ((*model)->facts().decoder, "detr");
  const auto image = grey_picture(1, 32, 32);
  const std::vector<stream::BatchFrame> frames(2, {.image = &image});
  std::vector<std::string> results(2);
  const auto ran = (*model)->run(0, frames, 3, results);
  ASSERT_TRUE(ran) << ran.error().message;
  for (const auto& result : results)
    EXPECT_EQ(result, R"({"boxes":[{"box":[8.0,8.0,24.0,24.0],"class":2,"score":0.75}]})");
}

TEST_F(OrtStreamModelTest, refuses_inputs_that_nobody_feeds) {
  auto model = make(means_model().input("im_shape", kFloatTensor, {"N", "2"}));
  ASSERT_FALSE(model);
  EXPECT_NE(
      model.error().message.find("images (float ?x3x8x8), im_shape (float ?x2); expected one of 4 dimensions with "
                                 "1 or 3 channels, and beside it at most orig_target_sizes"),
      std::string::npos)
      << model.error().message;
  model = make(means_model().input("orig_target_sizes", kFloatTensor, {"N", "4"}));
  ASSERT_FALSE(model);
  EXPECT_NE(model.error().message.find("orig_target_sizes (float ?x4); expected Nx2"), std::string::npos)
      << model.error().message;
  model = make(fakes::TinyOnnx()
                   .input("x", kFloatTensor, {"N", "4"})
                   .output("y", kFloatTensor, {"N", "4"})
                   .node("Relu", {"x"}, {"y"}));
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().code, base::ErrorCode::invalid_argument);
}

TEST_F(OrtStreamModelTest, needs_boxes_for_a_second_model) {
  wanted_.crop_model.location = fakes::heatmap_model(8, 4, 2).write(folder_ / "pose.onnx");
  const auto model = make(means_model());
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().code, base::ErrorCode::invalid_argument);
  EXPECT_NE(model.error().message.find("decoder none of "), std::string::npos) << model.error().message;
  EXPECT_NE(model.error().message.find("finds no boxes to cut out"), std::string::npos) << model.error().message;
}

}  // namespace
}  // namespace ridgeline::workload
