// SPDX-License-Identifier: Apache-2.0
#include "schema/stream_spec.hpp"

namespace ridgeline::schema {

RL_DEFINE_JSON(StreamSource, location, realtime, live)
RL_DEFINE_JSON(StreamPreprocess, mean, std, scale, channels, resize, align, border, stride, size, device)
RL_DEFINE_JSON(StreamCrop, decoder, labels, score_threshold, iou_threshold, max_boxes, classes, margin, most,
               batch_size, preprocess)
RL_DEFINE_JSON(StreamSettings, batch_size, inference_scale, inference_queue_size, result_queue_size, frame_timeout_ms,
               streams, rotate, drop, efficiency, slo_ms, every, decoder, labels, score_threshold, iou_threshold,
               max_boxes, classes, preprocess, crop, cuda_graphs, decode_device)
RL_DEFINE_JSON(StreamLoad, process, trace, rate_per_s, jitter, variation, duration_s, seed)
RL_DEFINE_JSON(StreamSpec, model, crop_model, sources, raw, announces, reconnect_s, camera, rtsp_transport, settings,
               load, most_frames, copies, video, tensors)

}  // namespace ridgeline::schema
