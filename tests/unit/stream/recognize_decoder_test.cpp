// SPDX-License-Identifier: Apache-2.0
#include "stream/decoders/recognize_decoder.hpp"

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fakes/words.hpp"
#include "unit/stream/made_outputs.hpp"

namespace ridgeline::stream {
namespace {

struct Known {
  std::string what;
  std::vector<MadeOutput> outputs;
  int width = 640;
  int height = 640;
  std::string decoder;
  std::string reason;
  DecoderOptions options{};
};

MadeOutput made(const std::string& name, std::vector<std::int64_t> dims,
                const std::function<void(MadeOutput&)>& fill = {}) {
  MadeOutput output(name, std::move(dims));
  if (fill) fill(output);
  return output;
}

MadeOutput columns(std::int64_t channels, std::int64_t count, const std::vector<float>& values) {
  return made("o", {channels, count}, [&](auto& output) { set_column(output, 3, values); });
}

MadeOutput rows(std::int64_t count, std::int64_t channels, const std::vector<float>& values) {
  return made("o", {count, channels}, [&](auto& output) { set_row(output, 3, values); });
}

std::vector<float> pose_values() {
  std::vector<float> values{320, 320, 100, 200, 0.9F};
  for (int k = 0; k < 17; ++k) {
    values.push_back(300.0F + static_cast<float>(k));
    values.push_back(300.0F + static_cast<float>(2 * k));
    values.push_back(0.5F);
  }
  return values;
}

std::vector<float> with_class(std::vector<float> box, std::size_t classes, std::size_t label, float score) {
  box.resize(box.size() + classes, 0);
  box[box.size() - classes + label] = score;
  return box;
}

std::vector<float> obb_values(float angle) {
  auto values = with_class({320, 320, 100, 50}, 15, 2, 0.9F);
  values.push_back(angle);
  return values;
}

DecoderOptions of_task(const std::string& task) {
  DecoderOptions options;
  options.task = task;
  return options;
}

DecoderOptions of_labels(std::size_t count) {
  DecoderOptions options;
  options.labels.assign(count, "x");
  return options;
}

MadeOutput whole(MadeOutput output) {
  output.is_integer = true;
  return output;
}

std::vector<Known> boxes_of_models() {
  const std::vector<float> box{320, 320, 100, 50};
  const std::vector<float> corners{270, 295, 370, 345};
  const std::vector<float> normalised{0.5F, 0.5F, 0.15F, 0.08F};
  auto final_pose = corners;
  final_pose.insert(final_pose.end(), {0.9F, 0});
  for (int k = 0; k < 51; ++k) final_pose.push_back(k % 3 == 2 ? 0.9F : 300);
  return {
      {"YOLOv8",
       {columns(84, 8400, with_class(box, 80, 2, 0.9F))},
       640,
       640,
       "yolo",
       "o of 84x8400: boxes in columns of 4 + 80 classes"},
      {"YOLOv5",
       {rows(25200, 85, with_class({320, 320, 100, 50, 0.95F}, 80, 2, 0.9F))},
       640,
       640,
       "yolo",
       "o of 25200x85: boxes in rows of 5 + 80 classes"},
      {"YOLOv5 of one class",
       {rows(25200, 6, {320, 320, 100, 50, 0.95F, 0.9F})},
       640,
       640,
       "yolo",
       "o of 25200x6: boxes in rows of 5 + 1 classes"},
      {"YOLOv10",
       {rows(300, 6, {270, 295, 370, 345, 0.9F, 2})},
       640,
       640,
       "yolo",
       "o of 300x6: boxes in rows of corners, score and class"},
      {"YOLOv8-seg",
       {columns(116, 8400, with_class(box, 80, 2, 0.9F)), made("p", {32, 160, 160})},
       640,
       640,
       "yolo",
       "o of 116x8400, p of 32x160x160: boxes in columns of 4 + 80 classes + 32 coefficients of masks"},
      {"YOLOX",
       {rows(8400, 85, with_class({0, 0, std::log(12.5F), std::log(6.25F), 0.95F}, 80, 2, 0.9F))},
       640,
       640,
       "yolox",
       "o of 8400x85: a box for each cell in rows of 5 + 80 classes"},
      {"YOLOX that decodes its boxes",
       {rows(8400, 85, with_class({320, 320, 100, 50, 0.95F}, 80, 2, 0.9F))},
       640,
       640,
       "yolo",
       ""},
      {"YOLOv8-pose",
       {columns(56, 8400, pose_values())},
       640,
       640,
       "pose",
       "o of 56x8400: boxes in columns of 4 + 1 classes + 17 keypoints of 3 values"},
      {"YOLO26-pose",
       {rows(300, 57, final_pose)},
       640,
       640,
       "pose",
       "o of 300x57: boxes in rows of corners, score and class + 17 keypoints of 3 values"},
      {"YOLOv8-obb",
       {columns(20, 8400, obb_values(1.2F))},
       640,
       640,
       "obb",
       "o of 20x8400: boxes in columns of 4 + 15 classes + an angle"},
      {"YOLOv8-obb that says so", {columns(20, 8400, obb_values(0.5F))}, 640, 640, "obb", "", of_task("obb")},
      {"YOLOv8-obb whose angle may be a class",
       {columns(20, 8400, obb_values(0.5F))},
       640,
       640,
       "none",
       "the last value may be a class's score",
       of_labels(15)},
      {"YOLOv8 or YOLOv8-obb",
       {columns(20, 8400, obb_values(0.5F))},
       640,
       640,
       "none",
       "yolo (boxes in columns of 4 + 16 classes: the last value may be an angle (obb)), obb (boxes in "
       "columns of 4 + 15 classes + an angle: the last value may be a class's score)"},
      {"YOLOv8 or YOLOv8-obb with small angles", {columns(20, 8400, obb_values(0.05F))}, 640, 640, "none", ""},
      {"YOLOv8 of as many names as values", {columns(20, 8400, obb_values(0.5F))}, 640, 640, "yolo", "", of_labels(16)},
      {"YOLOv8 of two classes that score", {columns(6, 8400, {320, 320, 100, 50, 0.9F, 0.1F})}, 640, 640, "yolo", ""},
      {"YOLOv8 of one class or two, or YOLOv8-obb",
       {columns(6, 8400, {320, 320, 100, 50, 0.9F, 0.5F})},
       640,
       640,
       "none",
       ""},
      {"YOLOv8 of the last class", {columns(20, 8400, with_class(box, 16, 15, 0.9F))}, 640, 640, "yolo", ""},
      {"YOLO26-obb of small angles", {rows(300, 7, {320, 320, 100, 50, 0.9F, 1, 0.5F})}, 640, 640, "obb", ""},
      {"YOLO26-obb",
       {rows(300, 7, {320, 320, 100, 50, 0.9F, 2, -0.5F})},
       640,
       640,
       "obb",
       "o of 300x7: boxes in rows of centre, size, score and class + an angle"},
      {"RT-DETR of Ultralytics",
       {rows(300, 84, with_class(normalised, 80, 2, 0.9F))},
       640,
       640,
       "detr",
       "o of 300x84: boxes from 0 to 1 and scores in rows"},
      {"RT-DETR of two classes", {rows(300, 6, with_class(normalised, 2, 1, 0.9F))}, 640, 640, "detr", ""},
      {"RT-DETR of three classes", {rows(300, 7, with_class(normalised, 3, 1, 0.9F))}, 640, 640, "detr", ""},
      {"DETR",
       {made("logits", {100, 92}, [](auto& output) { output.values.assign(9200, -6); }), rows(100, 4, normalised)},
       800,
       800,
       "detr",
       "logits of 100x92, o of 100x4: logits and boxes"},
      {"RT-DETR",
       {whole(made("labels", {300})), made("boxes", {300, 4}, [&](auto& output) { set_row(output, 0, corners); }),
        made("scores", {300}, [](auto& output) { output.values[0] = 0.9F; })},
       640,
       640,
       "detr",
       ""},
      {"YOLO-NAS",
       {rows(8400, 4, corners), made("scores", {8400, 80}, [](auto& output) { output.values[3 * 80 + 2] = 0.9F; })},
       640,
       640,
       "yolo-nas",
       ""},
      {"YOLO-NAS, scores first",
       {made("a", {8400, 80}, [](auto& output) { output.values[3 * 80 + 2] = 0.9F; }), rows(8400, 4, corners)},
       640,
       640,
       "yolo-nas",
       ""},
      {"YOLO-NAS with suppression", {rows(5, 7, {0, 270, 295, 370, 345, 0.9F, 2})}, 640, 640, "boxes", ""},
      {"YOLOv7 with suppression",
       {made("o", {7},
             [](auto& output) {
               set_row(output, 0, {0, 270, 295, 370, 345, 2, 0.9F});
             })},
       640,
       640,
       "boxes",
       ""},
      {"EfficientNMS",
       {whole(made("num_dets", {1}, [](auto& output) { output.values[0] = 1; })),
        made("det_boxes", {100, 4}, [&](auto& output) { set_row(output, 0, corners); }),
        made("det_scores", {100}, [](auto& output) { output.values[0] = 0.9F; }), whole(made("det_classes", {100}))},
       640,
       640,
       "boxes",
       ""},
      {"MMDetection",
       {made("dets", {100, 5},
             [](auto& output) {
               set_row(output, 0, {270, 295, 370, 345, 0.9F});
             }),
        whole(made("labels", {100}))},
       640,
       640,
       "boxes",
       ""},
  };
}

MadeOutput map_of(const std::string& name, const std::function<bool(int, int)>& is_text) {
  MadeOutput map(name, {1, 640, 640}, 0.01F);
  for (int y = 0; y < 640; ++y)
    for (int x = 0; x < 640; ++x)
      if (is_text(x, y)) map.values[static_cast<std::size_t>(640 * y + x)] = 0.9F;
  return map;
}

std::vector<Known> other_models() {
  const auto slanted = [](int x, int y) { return 50 <= x && x < 400 && std::abs(y - 100 - x / 4) < 12; };
  auto peaks = MadeOutput("o", {17, 64, 48});
  for (std::size_t k = 0; k < 17; ++k) peaks.values[k * 64 * 48 + 100 + k] = 0.8F;
  auto regions = MadeOutput("o", {21, 80, 80});
  std::fill_n(regions.values.begin() + 3 * 6400, 6400, 1.0F);
  auto logits = MadeOutput("o", {21, 80, 80}, -4.0F);
  std::fill_n(logits.values.begin() + 3 * 6400, 3000, 7.0F);
  auto classes = whole(MadeOutput("o", {1, 320, 320}));
  std::fill_n(classes.values.begin(), 5000, 12.0F);
  auto rtmo = made("dets", {100, 5}, [](auto& output) { set_row(output, 0, {270, 295, 370, 345, 0.9F}); });
  auto text = MadeOutput("o", {40, 6625}, 1.0F / 6625);
  const auto segmentation = std::string("a class for each pixel (semantic segmentation), which no decoder reads");
  return {
      {"PP-OCR",
       {MadeOutput("sigmoid_0.tmp_0", {1, 640, 640}, 0.01F)},
       640,
       640,
       "ppocr",
       "sigmoid_0.tmp_0 of 1x640x640: one map of the input's size"},
      {"PP-OCR with lines of text", {map_of("fetch_name_0", slanted)}, 640, 640, "ppocr", ""},
      {"a map of text or of a foreground",
       {map_of("output", slanted)},
       640,
       640,
       "none",
       "considered ppocr (one map of the input's size: it may be the mask of a foreground)"},
      {"a portrait's mask",
       {map_of("fetch_name_0", [](int x, int y) { return 200 < x && x < 560 && y > 200; })},
       640,
       640,
       "none",
       "one region covers 38 % of the map; expected lines of text"},
      {"the mask of something that is no line",
       {map_of("fetch_name_0", [](int x, int y) { return 200 < x && x < y && y < 400; })},
       640,
       640,
       "none",
       "of their rectangles; expected lines of text"},
      {"RTMPose", {MadeOutput("simcc_x", {17, 384}), MadeOutput("simcc_y", {17, 512})}, 192, 256, "simcc", ""},
      {"SimCC without names", {MadeOutput("a", {17, 384}), MadeOutput("b", {17, 512})}, 192, 256, "simcc", ""},
      {"HRNet", {peaks}, 192, 256, "heatmap", "o of 17x64x48: maps smaller than the input"},
      {"ResNet", {MadeOutput("logits", {1000})}, 224, 224, "classify", "logits of 1000: one value per class"},
      {"two classes with names", {MadeOutput("o", {2})}, 192, 48, "classify", "", of_labels(2)},
      {"three classes that say so", {MadeOutput("o", {3})}, 224, 224, "classify", "", of_task("classify")},
      {"two values", {MadeOutput("o", {2})}, 192, 48, "none", "o of 2: no decoder reads these"},
      {"a recognizer", {MadeOutput("o", {40, 4})}, 320, 48, "ctc", "", of_labels(2)},
      {"a recognizer without labels", {text}, 320, 48, "none", ""},
      {"a segmentation of regions", {regions}, 320, 320, "none", segmentation},
      {"a segmentation of logits", {logits}, 320, 320, "none", segmentation},
      {"a segmentation of full size", {MadeOutput("o", {21, 520, 520}, 0.2F)}, 520, 520, "none", segmentation},
      {"classes of pixels", {classes}, 320, 320, "none", segmentation},
      {"classes of pixels, all the same", {whole(MadeOutput("o", {512, 512}))}, 512, 512, "none", segmentation},
      {"RTMO", {rtmo, MadeOutput("keypoints", {100, 17, 3})}, 640, 640, "none", "(RTMO), which no decoder reads"},
      {"YOLOv8 of boxes from 0 to 1",
       {columns(84, 8400, with_class({0.5F, 0.5F, 0.2F, 0.1F}, 80, 2, 0.9F))},
       640,
       640,
       "none",
       "considered yolo (boxes in columns of 4 + 80 classes: no box has a side of 2 pixels)"},
      {"logits in a YOLOv8",
       {columns(84, 8400, with_class({320, 320, 100, 50}, 80, 2, 7.5F))},
       640,
       640,
       "none",
       "a score of 7.5; expected 0 to 1"},
      {"nothing found yet", {MadeOutput("o", {84, 8400})}, 640, 640, "none", "no box has a size"},
      {"a pose that is said to be a segmentation",
       {columns(56, 8400, pose_values())},
       640,
       640,
       "none",
       "the task in the model's metadata is segment",
       of_task("segment")},
      {"boxes from 0 to 1 of TensorFlow",
       {MadeOutput("num_detections", {1}, 1.0F),
        made("detection_boxes", {100, 4},
             [](auto& output) {
               set_row(output, 0, {0.1F, 0.1F, 0.4F, 0.4F});
             }),
        made("detection_scores", {100}, [](auto& output) { output.values[0] = 0.9F; }),
        MadeOutput("detection_classes", {100}, 1.0F)},
       640,
       640,
       "none",
       "no box has a side of 2 pixels"},
      {"embeddings", {MadeOutput("o", {1, 768})}, 224, 224, "none", ""},
      {"nothing", {}, 224, 224, "none", "no outputs: no decoder reads these"},
  };
}

void expect_recognized(const std::vector<Known>& models) {
  for (const auto& model : models) {
    const auto found = recognize_outputs(model.options, model.outputs, same_geometry(model.width, model.height));
    EXPECT_EQ(found.name, model.decoder) << model.what << ": " << fakes::text_of(found.note);
    EXPECT_NE(fakes::text_of(found.note).find(model.reason), std::string::npos)
        << model.what << ": " << fakes::text_of(found.note);
    EXPECT_EQ(fakes::text_of(found.note).find('\n'), std::string::npos) << "one line";
  }
}

TEST(RecognizeDecoder, boxes_by_shapes_and_values) { expect_recognized(boxes_of_models()); }

TEST(RecognizeDecoder, other_results_and_none) { expect_recognized(other_models()); }

TEST(RecognizeDecoder, reads_an_angle_as_no_class) {
  auto angles = columns(20, 8400, obb_values(0.5F));
  for (std::size_t i = 0; i < 8400; ++i) angles.values[19 * 8400 + i] = 0.4F + 0.0001F * static_cast<float>(i % 1000);
  const auto found = recognize_outputs({}, {angles}, same_geometry(640, 640));
  EXPECT_EQ(found.name, "obb") << fakes::text_of(found.note);
}

}  // namespace
}  // namespace ridgeline::stream
