// SPDX-License-Identifier: Apache-2.0
#include "stream/decoders/make_decoder.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "unit/stream/made_outputs.hpp"

namespace ridgeline::stream {
namespace {

struct KnownModel {
  std::string what;
  std::vector<OutputShape> outputs;
  int width;
  int height;
  std::vector<std::string> labels;
  std::string decoder;
  std::string reason;
};

std::vector<KnownModel> known_models() {
  return {
      {"PP-OCR", {{"map", {1, -1, -1}}}, -1, -1, {}, "ppocr", "map of 1x?x?: one map of the input's size"},
      {"PP-OCR fixed", {{"map", {1, 640, 640}}}, 640, 640, {}, "ppocr", ""},
      {"a map of half the size", {{"map", {1, 320, 320}}}, 640, 640, {}, "heatmap", ""},
      {"YOLOv8", {{"o", {84, 8400}}}, 640, 640, {}, "yolo", "o of 84x8400: boxes in columns of 4 + 80 classes"},
      {"YOLOv8 of any size", {{"o", {84, -1}}}, -1, -1, {}, "yolo", ""},
      {"YOLOv5", {{"o", {25200, 85}}}, 640, 640, {}, "yolo", "o of 25200x85: boxes in rows of 5 + 80 classes"},
      {"YOLOv5 of one class",
       {{"o", {25200, 6}}},
       640,
       640,
       {},
       "yolo",
       "o of 25200x6: boxes in rows of 5 + 1 classes"},
      {"YOLOv5 small", {{"o", {252, 6}}}, 64, 64, {}, "yolo", "o of 252x6: boxes in rows of 5 + 1 classes"},
      {"YOLOv10", {{"o", {300, 6}}}, 640, 640, {}, "yolo", "o of 300x6: boxes in rows of corners, score and class"},
      {"YOLOv8-seg",
       {{"o", {116, 8400}}, {"p", {32, 160, 160}}},
       640,
       640,
       {},
       "yolo",
       "o of 116x8400, p of 32x160x160: boxes in columns of 4 + 80 classes"},
      {"DETR", {{"logits", {100, 92}}, {"pred_boxes", {100, 4}}}, 800, 800, {}, "detr", ""},
      {"RT-DETR", {{"labels", {300}}, {"boxes", {300, 4}}, {"scores", {300}}}, 640, 640, {}, "detr", ""},
      {"DETR of four classes", {{"pred_boxes", {100, 4}}, {"logits", {100, 4}}}, 640, 640, {}, "detr", ""},
      {"RTMPose", {{"simcc_x", {17, 384}}, {"simcc_y", {17, 512}}}, 192, 256, {}, "simcc", ""},
      {"SimCC without names", {{"a", {17, 384}}, {"b", {17, 512}}}, 192, 256, {}, "simcc", ""},
      {"HRNet", {{"o", {17, 64, 48}}}, 192, 256, {}, "heatmap", "o of 17x64x48: maps smaller than the input"},
      {"ResNet", {{"logits", {1000}}}, 224, 224, {}, "classify", "logits of 1000: one value a class"},
      {"two classes with names", {{"o", {2}}}, 192, 48, {"0", "180"}, "classify", ""},
      {"two values", {{"o", {2}}}, 192, 48, {}, "none", "o of 2: no decoder reads these"},
      {"a recognizer", {{"o", {40, 4}}}, 320, 48, {"a", "b"}, "ctc", "o of 40x4: a character a step, of 2 labels"},
      {"a recognizer of any size", {{"o", {-1, 6625}}}, -1, 48, std::vector<std::string>(6623, "a"), "ctc", ""},
      {"a recognizer without labels", {{"o", {-1, 6625}}}, -1, 48, {}, "none", ""},
      {"a segmentation", {{"o", {21, 520, 520}}}, 520, 520, {}, "none", ""},
      {"embeddings", {{"o", {1, 768}}}, 224, 224, {}, "none", ""},
      {"nothing", {}, 224, 224, {}, "none", "no outputs: no decoder reads these"},
  };
}

TEST(RecognizeDecoder, known_models_by_their_shapes) {
  for (const auto& model : known_models()) {
    DecoderOptions options;
    options.labels = model.labels;
    const auto found = recognize_decoder(options, model.outputs, model.width, model.height);
    EXPECT_EQ(found.name, model.decoder) << model.what;
    if (!model.reason.empty()) {
      EXPECT_EQ(found.reason, model.reason);
    }
    EXPECT_TRUE(make_decoder("auto", options, model.outputs, model.width, model.height)) << model.what;
  }
}

TEST(MakeDecoder, stands_any_shape) {
  const std::vector<std::int64_t> sizes{-1, 0, 1, 4, 6, 7, std::numeric_limits<std::int64_t>::max()};
  std::vector<std::vector<std::int64_t>> shapes{{}};
  for (const auto a : sizes) {
    shapes.push_back({a});
    for (const auto b : sizes) {
      shapes.push_back({a, b});
      for (const auto c : sizes) shapes.push_back({a, b, c});
    }
  }
  const std::vector<float> values(4 * 6 * 7 * 7, 0.5F);
  const auto values_of = [&](const std::vector<std::int64_t>& dims) {
    std::uint64_t count = 1;
    for (const auto dim : dims)
      count = std::min<std::uint64_t>(count * static_cast<std::uint64_t>(std::clamp<std::int64_t>(dim, 0, 9999)), 9999);
    return std::span(values).first(std::min<std::size_t>(count, values.size()));
  };
  for (const auto& first : shapes)
    for (const auto& second : {std::vector<std::int64_t>{},
                               {4},
                               {4, 4},
                               {-1, 4},
                               {6, 7},
                               {0, 4},
                               {std::numeric_limits<std::int64_t>::max(), 4, 4}}) {
      const std::vector<OutputShape> outputs{{"a", first}, {"b", second}};
      for (const auto name : kDecoderNames)
        for (const std::size_t count : {1U, 2U}) {
          const auto used = std::span(outputs).first(count);
          const auto decoder = make_decoder(name, {}, used, -1, 64);
          if (!decoder) continue;
          std::vector<OutputView> views;
          for (const auto& output : used) views.push_back({output.name, output.dims, values_of(output.dims)});
          std::string json;
          (void)(*decoder)->decode(views, same_geometry(64, 64), json);
        }
    }
}

TEST(MakeDecoder, names_what_is_wrong) {
  const std::vector<OutputShape> outputs{{"o", {84, 8400}}};
  EXPECT_EQ(make_decoder("yolov8", {}, outputs, 640, 640).error().message,
            "decoder yolov8: expected one of auto, ppocr, yolo, detr, simcc, heatmap, classify, ctc, none");
  DecoderOptions options;
  options.score_threshold = 1.5;
  EXPECT_EQ(make_decoder("yolo", options, outputs, 640, 640).error().message, "score_threshold 1.5 is outside 0..1");
  options = {};
  options.max_boxes = 0;
  EXPECT_EQ(make_decoder("yolo", options, outputs, 640, 640).error().message, "max_boxes 0 is outside 1..10000");
}

TEST(SummaryDecoder, tells_names_shapes_and_ranges) {
  MadeOutput numbers("x\"", {3, 5});
  for (std::size_t i = 0; i < 15; ++i) numbers.values[i] = static_cast<float>(i);
  MadeOutput damaged("y", {2}, std::numeric_limits<float>::quiet_NaN());
  MadeOutput half("z", {2}, std::vector<float>{std::numeric_limits<float>::infinity(), -2});
  EXPECT_EQ(
      decode_outputs("none", {}, {numbers, damaged, half, MadeOutput("e", {0, 6})}, same_geometry(9, 9)).value().dump(),
      R"({"outputs":[{"max":14,"mean":7,"min":0,"name":"x\"","shape":[3,5]},)"
      R"({"name":"y","not_finite":2,"shape":[2]},)"
      R"({"max":-2,"mean":-2,"min":-2,"name":"z","not_finite":1,"shape":[2]},)"
      R"({"name":"e","shape":[0,6]}]})");
}

}  // namespace
}  // namespace ridgeline::stream
