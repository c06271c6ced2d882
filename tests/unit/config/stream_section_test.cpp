// SPDX-License-Identifier: Apache-2.0
#include "config/stream_section.hpp"

#include <gtest/gtest.h>

#include "stream/decoders/make_decoder.hpp"

namespace ridgeline::config {
namespace {

TEST(StreamSection, a_batch_may_be_left_to_the_memory) {
  EXPECT_EQ(read_stream_section("stream:\n  batch_size: auto\n", "p.yaml")->batch_size, 0);
  EXPECT_EQ(read_stream_section("stream: {batch_size: 4096, decode_device: gpu}\n", "p.yaml")->batch_size, 4096);
  const auto wrong = read_stream_section("stream:\n  batch_size: 0\n", "p.yaml");
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message.find("a whole number from 1 to 4096, or auto"), std::string::npos)
      << wrong.error().message;
}

TEST(StreamSection, every_key_is_read) {
  const auto settings = read_stream_section(R"(model: det.onnx
stream:
  batch_size: 8
  inference_scale: 0.5
  inference_queue_size: 16
  result_queue_size: 32
  frame_timeout_ms: 2.5
  streams: 3
  drop: newest
  rotate: 0
  efficiency: true
  slo_ms: 60
  decoder: yolo
  labels: [person, bicycle]
  score_threshold: 0.4
  iou_threshold: 0.6
  max_boxes: 20
  classes: [person, 7]
  every: 3
  preprocess:
    mean: [0.485, 0.456, 0.406]
    std: 0.5
    scale: 1
    channels: bgr
    resize: letterbox
    align: top-left
    border: 0
    stride: 64
    size: 640x384
  crop:
    decoder: simcc
    labels: [nose]
    score_threshold: 0.3
    iou_threshold: 0.2
    max_boxes: 9
    classes: face
    margin: 0.125
    most: 4
    batch_size: 2
    preprocess: {mean: 0.5, stride: 8, size: 96}
)",
                                            "pipeline.yaml");
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->batch_size, 8);
  EXPECT_EQ(settings->inference_scale, 0.5);
  EXPECT_EQ(settings->inference_queue_size, 16);
  EXPECT_EQ(settings->result_queue_size, 32);
  EXPECT_EQ(settings->frame_timeout_ms, 2.5);
  EXPECT_EQ(settings->streams, 3);
  EXPECT_EQ(settings->drop, "newest");
  EXPECT_EQ(settings->rotate, "0");
  EXPECT_TRUE(settings->efficiency);
  EXPECT_EQ(settings->slo_ms, 60);
  EXPECT_EQ(settings->decoder, "yolo");
  EXPECT_EQ(settings->labels, (std::vector<std::string>{"person", "bicycle"}));
  EXPECT_EQ(settings->score_threshold, 0.4);
  EXPECT_EQ(settings->preprocess.mean, (std::vector<double>{0.485, 0.456, 0.406}));
  EXPECT_EQ(settings->preprocess.std, (std::vector<double>{0.5}));
  EXPECT_EQ(settings->preprocess.scale, 1);
  EXPECT_EQ(settings->preprocess.channels, "bgr");
  EXPECT_EQ(settings->preprocess.resize, "letterbox");
  EXPECT_EQ(settings->iou_threshold, 0.6);
  EXPECT_EQ(settings->max_boxes, 20);
  EXPECT_EQ(settings->classes, (std::vector<std::string>{"person", "7"}));
  EXPECT_EQ(settings->every, 3);
  EXPECT_EQ(settings->preprocess.align, "top-left");
  EXPECT_EQ(settings->preprocess.size, (std::vector<std::int64_t>{640, 384}));
  EXPECT_EQ(settings->preprocess.border, 0);
  EXPECT_EQ(settings->preprocess.stride, 64);
  const auto& crop = settings->crop;
  EXPECT_EQ(crop.decoder, "simcc");
  EXPECT_EQ(crop.labels, (std::vector<std::string>{"nose"}));
  EXPECT_EQ(crop.score_threshold, 0.3);
  EXPECT_EQ(crop.margin, 0.125);
  EXPECT_EQ(crop.most, 4);
  EXPECT_EQ(crop.batch_size, 2);
  EXPECT_EQ(crop.preprocess.mean, (std::vector<double>{0.5}));
  EXPECT_EQ(crop.preprocess.stride, 8);
  EXPECT_EQ(crop.preprocess.channels, "auto");
  EXPECT_EQ(crop.preprocess.size, (std::vector<std::int64_t>{96, 96}));
  EXPECT_EQ(crop.iou_threshold, 0.2);
  EXPECT_EQ(crop.max_boxes, 9);
  EXPECT_EQ(crop.classes, (std::vector<std::string>{"face"}));
}

TEST(StreamSection, a_file_without_one_keeps_the_defaults) {
  for (const auto* text : {"", "threads: 4\n", "stream:\n", "stream:\n  preprocess:\n"}) {
    const auto settings = read_stream_section(text, "a.yaml");
    ASSERT_TRUE(settings) << text;
    EXPECT_EQ(base::Json(*settings), base::Json(schema::StreamSettings{}));
  }
}

TEST(StreamSection, faults_name_the_place_the_value_and_what_was_expected) {
  struct Row {
    const char* yaml;
    const char* message;
    const char* hint;
  };
  const Row rows[] = {
      {"stream:\n  batchsize: 4\n", "a.yaml:2:3: unknown key \"batchsize\" in stream", "batch_size"},
      {"stream:\n  preprocess:\n    means: 1\n", "a.yaml:3:5: unknown key \"means\" in stream.preprocess", "mean"},
      {"stream:\n  crop:\n    preprocess: {means: 1}\n", "a.yaml:3:18: unknown key \"means\" in stream.crop.preprocess",
       "mean"},
      {"stream:\n  crop: {mergin: 1}\n", "unknown key \"mergin\" in stream.crop; expected margin", "margin"},
      {"stream:\n  crop: 3\n", "stream.crop: expected a mapping of settings", ""},
      {"stream:\n  batch_size: 0\n", "a.yaml:2:15: stream.batch_size: 0; expected a whole number from 1 to 4096", ""},
      {"stream:\n  batch_size: many\n", "stream.batch_size: many; expected a whole number", ""},
      {"stream:\n  inference_scale: .inf\n", "stream.inference_scale: .inf; expected a number from 0.01 to 4", ""},
      {"stream:\n  drop: random\n", "stream.drop: random; expected one of auto, oldest, newest, none", ""},
      {"stream:\n  preprocess: {mean: [1, 2]}\n", "stream.preprocess.mean: 1, 2; expected 1 or 3 numbers", ""},
      {"stream:\n  preprocess: {std: 0}\n", "stream.preprocess.std: 0; expected numbers from", ""},
      {"stream:\n  preprocess: {size: 1x2x3}\n", "stream.preprocess.size: 1x2x3; expected WIDTHxHEIGHT, or one number",
       ""},
      {"stream:\n  max_boxes: 0\n", "stream.max_boxes: 0; expected a whole number from 1 to 10000", ""},
      {"stream: [1]\n", "stream: expected a mapping of settings", ""},
      {"stream:\n  slo_ms: [1, 2]\n", "stream.slo_ms: expected a value", ""},
      {"stream:\n  efficiency: yes\n", "stream.efficiency: yes; expected true or false", ""},
      {"stream:\n  rotate: 90\n", "stream.rotate: 90; expected one of auto, 0", ""},
      {"stream:\n  slo: 60\n", "unknown key \"slo\" in stream", "slo_ms"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.yaml);
    const auto settings = read_stream_section(row.yaml, "a.yaml");
    ASSERT_FALSE(settings);
    EXPECT_EQ(settings.error().code, base::ErrorCode::invalid_argument);
    EXPECT_NE(settings.error().message.find(row.message), std::string::npos) << settings.error().message;
    EXPECT_NE(settings.error().hint.find(row.hint), std::string::npos) << settings.error().hint;
  }
}

TEST(StreamSection, one_setting_from_the_command_line) {
  schema::StreamSettings settings;
  EXPECT_TRUE(set_stream_setting(settings, "batch_size", "4"));
  EXPECT_TRUE(set_stream_setting(settings, "preprocess.mean", "0.1,0.2,0.3"));
  EXPECT_EQ(settings.batch_size, 4);
  EXPECT_EQ(settings.preprocess.mean.size(), 3U);
  const auto unknown = set_stream_setting(settings, "preproces.mean", "1");
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().hint.find("preprocess.mean"), std::string::npos);
  EXPECT_FALSE(set_stream_setting(settings, "batch_size", "x"));
  EXPECT_TRUE(set_stream_setting(settings, "preprocess.device", "gpu"));
  EXPECT_TRUE(set_stream_setting(settings, "cuda_graphs", "off"));
  EXPECT_EQ(settings.preprocess.device, "gpu");
  EXPECT_EQ(settings.cuda_graphs, "off");
  EXPECT_FALSE(set_stream_setting(settings, "preprocess.device", "tpu"));
  EXPECT_EQ(stream_setting_names().size(), 47U);
}

TEST(StreamSection, every_decoder_can_be_named) {
  for (const auto name : stream::kDecoderNames) {
    schema::StreamSettings settings;
    EXPECT_TRUE(set_stream_setting(settings, "decoder", name)) << name;
    EXPECT_TRUE(set_stream_setting(settings, "crop.decoder", name)) << name;
    EXPECT_EQ(settings.crop.decoder, name);
  }
}

}  // namespace
}  // namespace ridgeline::config
