// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "schema/trial_spec.hpp"

namespace ridgeline::schema {

/// Where frames come from.
struct StreamSource {
  std::string location;   ///< file, folder, URL, /dev/videoN, "-", "synthetic:WxH"
  bool realtime = false;  ///< a file is paced by its own times
  bool live = false;      ///< frames of a pipe are due when they come, and do not wait
};
RL_DECLARE_JSON(StreamSource)

/// What happens to a frame before the model (section `stream: preprocess:` of a config).
struct StreamPreprocess {
  std::vector<double> mean{0, 0, 0};  ///< of values from 0 to 1, in the model's channel order; 3 values, or 1
  std::vector<double> std{1, 1, 1};   ///< the same
  std::optional<double> scale{};      ///< of a pixel's 0 to 255, before mean and std; unset: 1/255, for YOLOX 1
  std::string channels = "auto";      ///< that the model takes: rgb, bgr, gray; auto: bgr for YOLOX, else rgb
  /// stretch; letterbox, which keeps the sides' ratio; auto: a letterbox where the model's input is of a fixed size.
  std::string resize = "auto";
  std::string align = "auto";  ///< of a letterbox: center, top-left; auto: top-left for YOLOX, else center
  std::int64_t border = 114;   ///< of a letterbox, 0 to 255
  std::int64_t stride = 32;    ///< sides of a model of any size are multiples of it
  /// Width and height of the input of a model of any size; empty: what its metadata tell, else by the frame's.
  std::vector<std::int64_t> size{};
  std::string device = "auto";  ///< where frames are prepared: auto (where the model runs, if it can be), cpu, gpu
};
RL_DECLARE_JSON(StreamPreprocess)

/// A second model on what the first one found (section `stream: crop:`).
struct StreamCrop {
  std::string decoder = "auto";
  std::vector<std::string> labels{};
  std::optional<double> score_threshold{};
  double iou_threshold = 0.45;  ///< as StreamSettings, also those that follow
  std::int64_t max_boxes = 300;
  std::vector<std::string> classes{};
  double margin = 0;            ///< of a box's sides, on each side
  std::int64_t most = 16;       ///< boxes of a frame
  std::int64_t batch_size = 8;  ///< crops of one inference at most
  StreamPreprocess preprocess;
};
RL_DECLARE_JSON(StreamCrop)

/// Settings of a pipeline (section `stream:` of a config).
struct StreamSettings {
  /// Frames of one inference at most; 0: on a GPU as many as it has memory for, up to 32, else 1.
  std::int64_t batch_size = 1;
  double inference_scale = 1;             ///< of the frame's sides
  std::int64_t inference_queue_size = 0;  ///< frames that wait, over all sources; 0: by the SLO, else four batches
  std::int64_t result_queue_size = 256;   ///< results that wait for the output
  double frame_timeout_ms = 0;            ///< longest wait for a fuller batch while a worker is idle
  std::int64_t streams = 0;               ///< inferences in flight; 0: two on a GPU, one a core on a CPU, four at most
  std::string rotate = "auto";            ///< as files say that their frames are to be seen; 0: as they are stored
  std::string drop = "auto";          ///< auto: oldest where a source has a pace, none otherwise; oldest, newest, none
  bool efficiency = false;            ///< waits for fuller batches as long as deadlines allow
  double slo_ms = 0;                  ///< from when a paced frame is due to its result; 0: none
  std::int64_t every = 1;             ///< frames of a source from one inference to the next; the others are skipped
  std::string decoder = "auto";       ///< auto, ppocr, yolo, ...: see docs/stream.md
  std::vector<std::string> labels{};  ///< names of classes, by number
  std::optional<double> score_threshold{};  ///< 0 to 1; unset: the decoder's own
  double iou_threshold = 0.45;              ///< of two boxes of a class that overlap more, the better one stays
  std::int64_t max_boxes = 300;             ///< of a frame, the best ones
  std::vector<std::string> classes{};       ///< names or numbers; boxes of others are left out; empty: of none
  StreamPreprocess preprocess;
  StreamCrop crop;
  std::string cuda_graphs = "auto";  ///< auto: captured before the first frame, where the model can be; off
  /// Where videos are decoded: auto (on the GPU that prepares the frames, if it can), cpu, gpu.
  std::string decode_device = "auto";
};
RL_DECLARE_JSON(StreamSettings)

/// Arrivals that a load generator makes of the sources' frames, which are decoded before.
struct StreamLoad {
  std::string process = "fixed";  ///< fixed, poisson, burst, trace; "offline": as fast as the pipeline takes them
  std::string trace;              ///< file of arrival times, seconds since the start, one a line
  double rate_per_s = 30;         ///< a source; of a trace its mean
  double jitter = 0;              ///< of fixed: share of an interval
  double variation = 3;           ///< of burst: standard deviation of the gaps over their mean
  double duration_s = 10;
  std::int64_t seed = 1;
};
RL_DECLARE_JSON(StreamLoad)

/// What the process that runs a pipeline is asked for.
struct StreamSpec {
  TrialSpec model;         ///< location "null": no model, results are null
  WorkloadRef crop_model;  ///< location "": none
  std::vector<StreamSource> sources;
  std::string raw;         ///< of frames without headers on "-", or else in files: "1280x720:bgr24@30"; "": none
  bool announces = false;  ///< the model is loaded, and that is told, before the first of the frames on "-" is awaited
  double reconnect_s = 30;
  std::string camera;                  ///< what cameras are asked for: "1280x720@30"; "": their own choice
  std::string rtsp_transport = "tcp";  ///< or udp
  StreamSettings settings;
  std::optional<StreamLoad> load{};
  std::int64_t most_frames = 0;  ///< of each source; 0: all
  std::int64_t copies = 1;       ///< of each source
  std::string video;             ///< file, or one a source, of the frames with their results; "": none
  std::string tensors;           ///< folder for the model's outputs; "": none
};
RL_DECLARE_JSON(StreamSpec)

}  // namespace ridgeline::schema
