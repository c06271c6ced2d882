// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/exporter_metadata.hpp"

#include <charconv>
#include <cstdint>
#include <functional>

#include "stream/messages.hpp"
#include "workload/onnx/ort_status.hpp"
#include "workload/onnx/python_literal.hpp"

namespace ridgeline::workload {
namespace {

using base::Json;

constexpr std::int64_t kLongestSide = 32768;
constexpr std::size_t kMostNames = 100'000;
constexpr std::int64_t kMostKeypoints = 10'000;

bool read_names(const Json& value, ExporterMetadata& out) {
  std::vector<std::string> names;
  if (value.is_array()) {
    for (const auto& name : value) {
      if (!name.is_string()) return false;
      names.push_back(name.get<std::string>());
    }
  } else if (value.is_object() && value.size() <= kMostNames) {
    names.resize(value.size());
    for (const auto& [key, name] : value.items()) {
      std::size_t number = 0;
      const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), number);
      if (error != std::errc() || end != key.data() + key.size() || number >= names.size() || !name.is_string())
        return false;
      names[number] = name.get<std::string>();
    }
  } else {
    return false;
  }
  out.names = std::move(names);
  return !out.names.empty();
}

/// [height, width], or one number for both.
bool read_image_size(const Json& value, ExporterMetadata& out) {
  const auto side = [](const Json& one) {
    return one.is_number_integer() && one.get<std::int64_t>() >= 1 && one.get<std::int64_t>() <= kLongestSide
               ? static_cast<int>(one.get<std::int64_t>())
               : 0;
  };
  if (value.is_array() && (value.empty() || value.size() > 2)) return false;
  out.height = side(value.is_array() ? value.front() : value);
  out.width = side(value.is_array() ? value.back() : value);
  if (out.width > 0 && out.height > 0) return true;
  out.width = out.height = 0;
  return false;
}

bool read_stride(const Json& value, ExporterMetadata& out) {
  if (!value.is_number() || value.get<double>() < 1 || value.get<double>() > 1024) return false;
  out.stride = static_cast<int>(value.get<double>());
  return true;
}

bool read_keypoints(const Json& value, ExporterMetadata& out) {
  if (!value.is_array() || value.size() != 2 || !value[0].is_number_integer() || !value[1].is_number_integer())
    return false;
  const auto count = value[0].get<std::int64_t>();
  const auto values = value[1].get<std::int64_t>();
  if (count < 1 || count > kMostKeypoints || (values != 2 && values != 3)) return false;
  out.keypoints = {static_cast<std::size_t>(count), static_cast<std::size_t>(values)};
  return true;
}

}  // namespace

std::vector<schema::Message> ExporterMetadata::messages() const {
  std::vector<schema::Message> parts;
  if (!task.empty()) parts.push_back(stream::messages::metadata_task(task));
  if (!names.empty()) parts.push_back(stream::messages::metadata_names(static_cast<std::int64_t>(names.size())));
  if (width > 0) parts.push_back(stream::messages::metadata_size({.width = width, .height = height}));
  if (stride > 0) parts.push_back(stream::messages::metadata_stride(stride));
  if (keypoints)
    parts.push_back(stream::messages::metadata_keypoints({.points = static_cast<std::int64_t>(keypoints->count),
                                                          .values = static_cast<std::int64_t>(keypoints->values)}));
  if (is_final) parts.push_back(stream::messages::metadata_final());
  return parts;
}

ExporterMetadata read_exporter_metadata(const std::map<std::string, std::string>& entries) {
  ExporterMetadata out;
  if (const auto task = entries.find("task"); task != entries.end()) out.task = task->second;
  const auto read = [&](const char* key, const std::function<bool(const Json&)>& take) {
    const auto entry = entries.find(key);
    if (entry == entries.end()) return;
    const auto value = parse_python_literal(entry->second);
    if (!value || !take(*value)) out.unreadable.emplace_back(key);
  };
  read("names", [&](const Json& value) { return read_names(value, out); });
  read("imgsz", [&](const Json& value) { return read_image_size(value, out); });
  read("stride", [&](const Json& value) { return read_stride(value, out); });
  read("kpt_shape", [&](const Json& value) { return read_keypoints(value, out); });
  read("end2end", [&](const Json& value) {
    out.is_final = value.is_boolean() && value.get<bool>();
    return value.is_boolean();
  });
  read("args", [&](const Json& value) {
    if (!value.is_object()) return false;
    const auto nms = value.find("nms");
    out.is_final = out.is_final || (nms != value.end() && nms->is_boolean() && nms->get<bool>());
    return true;
  });
  return out;
}

base::Result<std::map<std::string, std::string>> session_metadata(const OrtApi& api, const OrtSession* session) {
  OrtModelMetadata* created = nullptr;
  RL_TRY(check_ort(api, api.SessionGetModelMetadata(session, &created)));
  const OrtHandle<OrtModelMetadata> metadata(created, api.ReleaseModelMetadata);
  OrtAllocator* allocator = nullptr;
  RL_TRY(check_ort(api, api.GetAllocatorWithDefaultOptions(&allocator)));
  char** keys = nullptr;
  std::int64_t count = 0;
  RL_TRY(check_ort(api, api.ModelMetadataGetCustomMetadataMapKeys(metadata.get(), allocator, &keys, &count)));
  std::map<std::string, std::string> out;
  for (std::int64_t i = 0; i < count; ++i) {
    char* value = nullptr;
    RL_TRY(check_ort(api, api.ModelMetadataLookupCustomMetadataMap(metadata.get(), allocator, keys[i], &value)));
    if (value != nullptr) {
      out.emplace(keys[i], value);
      RL_TRY(check_ort(api, api.AllocatorFree(allocator, value)));
    }
    RL_TRY(check_ort(api, api.AllocatorFree(allocator, keys[i])));
  }
  if (keys != nullptr) RL_TRY(check_ort(api, api.AllocatorFree(allocator, keys)));
  return out;
}

}  // namespace ridgeline::workload
