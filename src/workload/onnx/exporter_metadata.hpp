// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "schema/message.hpp"
#include "stream/decoders/decoder_options.hpp"

struct OrtApi;
struct OrtSession;

namespace ridgeline::workload {

/// What an exporter has written into a model's metadata_props; Ultralytics' keys (task, names, imgsz, stride,
/// kpt_shape, end2end, args), which others use too.
struct ExporterMetadata {
  std::string task;                ///< "detect", "segment", "classify", "pose", "obb"; "": not told
  std::vector<std::string> names;  ///< of classes, by number
  int width = 0;                   ///< that the model was trained at; 0: not told
  int height = 0;
  int stride = 0;  ///< 0: not told
  std::optional<stream::KeypointShape> keypoints{};
  bool is_final = false;                  ///< it suppresses on its own (end2end, or args with nms)
  std::vector<std::string> unreadable{};  ///< keys whose values are none

  /// What is told: "task detect", "80 names", "imgsz 640x640", "stride 32".
  [[nodiscard]] std::vector<schema::Message> messages() const;
};

/// Of the metadata by their key. Values that are not what they should be are left out and named.
[[nodiscard]] ExporterMetadata read_exporter_metadata(const std::map<std::string, std::string>& entries);

/// The metadata_props of the model in a session.
[[nodiscard]] base::Result<std::map<std::string, std::string>> session_metadata(const OrtApi& api,
                                                                                const OrtSession* session);

}  // namespace ridgeline::workload
