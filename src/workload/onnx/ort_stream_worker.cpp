// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/ort_stream_worker.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/clock.hpp"
#include "workload/onnx/ort_status.hpp"

namespace ridgeline::workload {
namespace {

/// Sizes of input whose buffers are kept; a source of ever new sizes must not fill the memory.
constexpr std::size_t kMostBuffers = 32;

bool is_integer(ElementType type) {
  return type != ElementType::float32 && type != ElementType::float64 && type != ElementType::float16 &&
         type != ElementType::bfloat16;
}

std::int64_t now_ns() { return base::system_clock().now().count(); }

}  // namespace

OrtStreamWorker::OrtStreamWorker(const OrtEnvironment& environment, OrtStreamParts parts)
    : environment_(environment),
      parts_(std::move(parts)),
      read_(parts_.outputs.size()),
      views_(parts_.outputs.size()),
      bytes_(parts_.outputs.size()) {
  for (const auto& port : parts_.outputs) output_names_.push_back(port.description.name.c_str());
}

base::Result<stream::BatchTimes> OrtStreamWorker::run(std::span<const stream::BatchFrame> frames,
                                                      std::uint32_t executed_size, std::span<std::string> results) {
  stream::BatchTimes times;
  parts_.caller->enter_float_mode();
  if (bound_) RL_TRY(bound_->transfer().enter());
  RL_TRY_ASSIGN(const auto groups, group(frames, executed_size));
  if (parts_.keeps_boxes) found_.resize(frames.size());
  for (const auto& one : groups) RL_TRY(run_group(one, frames, results, times));
  return times;
}

base::Result<OrtStreamWorker::Probe> OrtStreamWorker::probe(const stream::Image& image) {
  parts_.caller->enter_float_mode();
  if (bound_) RL_TRY(bound_->transfer().enter());
  const stream::BatchFrame frame{.image = &image, .is_sample = true};
  RL_TRY_ASSIGN(const auto groups, group({&frame, 1}, 1));
  const auto& only = groups.front();
  RL_TRY_ASSIGN(auto* input, buffer(only));
  RL_TRY(fill(*input, 0, image, only.geometry));
  stream::BatchTimes times;
  auto values = infer(*input, times);
  if (!values) return tl::unexpected(environment_.with_log(std::move(values).error()));
  RL_TRY(read(*values));
  RL_TRY(cut_outputs(only.rows, 0));
  probed_ = std::move(*values);
  return Probe{views_, only.geometry};
}

base::Result<std::vector<OrtStreamWorker::Group>> OrtStreamWorker::group(std::span<const stream::BatchFrame> frames,
                                                                         std::uint32_t executed_size) {
  std::vector<Group> groups;
  geometries_.clear();
  const auto& input = parts_.input;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const auto& image = *frames[i].image;
    RL_TRY_ASSIGN(const auto geometry, parts_.preprocessor.plan(image.width, image.height, input.width, input.height));
    geometries_.push_back(geometry);
    if (frames[i].crop != nullptr) geometries_.back().crop = *frames[i].crop;
    auto found = std::find_if(groups.begin(), groups.end(), [&](const Group& group) {
      return group.geometry.input_width == geometry.input_width && group.geometry.input_height == geometry.input_height;
    });
    if (found == groups.end()) found = groups.insert(groups.end(), Group{geometry, 0, {}});
    found->places.push_back(i);
  }
  for (auto& one : groups)
    one.rows = input.batch > 0      ? input.batch
               : groups.size() == 1 ? static_cast<std::int64_t>(executed_size)
                                    : static_cast<std::int64_t>(one.places.size());
  return groups;
}

base::Result<OrtStreamWorker::Buffer*> OrtStreamWorker::buffer(const Group& group) {
  const auto dims = parts_.input.dims(group.rows, group.geometry.input_height, group.geometry.input_width);
  if (const auto found = buffers_.find(dims); found != buffers_.end()) return &found->second;
  if (buffers_.size() >= kMostBuffers) buffers_.clear();
  RL_TRY_ASSIGN(auto made, make_buffer(dims));
  made.frame_bytes = made.bytes / static_cast<std::size_t>(group.rows);
  // What pads a batch has to be numbers.
  std::fill_n(made.data, made.bytes, std::byte{0});
  if (parts_.sizes) {
    RL_TRY_ASSIGN(made.sizes, make_sizes(group));
  }
  return &buffers_.emplace(dims, std::move(made)).first->second;
}

base::Result<OrtStreamWorker::Buffer> OrtStreamWorker::make_buffer(const std::vector<std::int64_t>& dims) const {
  const auto& api = environment_.api();
  RL_TRY_ASSIGN(const auto size, tensor_bytes(parts_.input.type, dims));
  Buffer made;
  made.bytes = static_cast<std::size_t>(size);
  if (!bound_) {
    RL_TRY_ASSIGN(made.value, allocate_ort_tensor(api, parts_.input.type, dims));
    void* data = nullptr;
    RL_TRY(check_ort(api, api.GetTensorMutableData(made.value.get(), &data)));
    made.data = static_cast<std::byte*>(data);
    return made;
  }
  const auto& transfer = bound_->transfer();
  RL_TRY_ASSIGN(made.host, transfer.allocate_host(made.bytes));
  RL_TRY_ASSIGN(made.device, transfer.allocate_device(made.bytes));
  RL_TRY_ASSIGN(made.value,
                wrap_memory(api, {transfer.place(), made.device.get(), made.bytes}, parts_.input.type, dims));
  made.data = static_cast<std::byte*>(made.host.get());
  return made;
}

base::Result<void> OrtStreamWorker::bind(std::unique_ptr<DeviceTransfer> transfer) {
  RL_TRY_ASSIGN(bound_,
                BoundSession::create(environment_, parts_.caller->session(), parts_.outputs, std::move(transfer)));
  return {};
}

/// The input's own size, in whose pixels decoders expect boxes.
base::Result<OrtValueHandle> OrtStreamWorker::make_sizes(const Group& group) const {
  const auto& [name, type, fixed_rows] = *parts_.sizes;
  Tensor tensor{type, {fixed_rows < 0 ? group.rows : fixed_rows, 2}, {}};
  const auto append = [&]<typename T>(T value) {
    tensor.bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  for (std::int64_t row = 0; row < tensor.dims[0]; ++row)
    for (const int side : {group.geometry.input_width, group.geometry.input_height}) switch (type) {
        case ElementType::int32: append(std::int32_t{side}); break;
        case ElementType::float32: append(static_cast<float>(side)); break;
        default: append(std::int64_t{side}); break;
      }
  return make_ort_tensor(environment_.api(), tensor);
}

base::Result<void> OrtStreamWorker::fill(const Buffer& buffer, std::size_t at, const stream::Image& image,
                                         const stream::FrameGeometry& geometry) {
  std::byte* begin = buffer.data + at * buffer.frame_bytes;
  const auto elements = parts_.preprocessor.elements(geometry);
  switch (parts_.input.type) {
    case ElementType::uint8:
      return parts_.preprocessor.run_bytes(image, geometry, {reinterpret_cast<std::uint8_t*>(begin), elements});
    case ElementType::float16:
      return parts_.preprocessor.run_half(image, geometry, {reinterpret_cast<std::uint16_t*>(begin), elements});
    default: return parts_.preprocessor.run(image, geometry, {reinterpret_cast<float*>(begin), elements});
  }
}

base::Result<void> OrtStreamWorker::run_group(const Group& group, std::span<const stream::BatchFrame> frames,
                                              std::span<std::string> results, stream::BatchTimes& times) {
  const auto begun = now_ns();
  RL_TRY_ASSIGN(auto* input, buffer(group));
  for (std::size_t i = 0; i < group.places.size(); ++i)
    RL_TRY(fill(*input, i, *frames[group.places[i]].image, geometries_[group.places[i]]));
  const auto filled = now_ns();
  times.preprocess_ns += filled - begun;
  auto values = infer(*input, times);
  if (!values) return tl::unexpected(environment_.with_log(std::move(values).error()));
  const auto ended = now_ns();
  RL_TRY(decode(group, frames, *values, results));
  times.postprocess_ns += now_ns() - ended;
  return {};
}

base::Result<std::vector<OrtValueHandle>> OrtStreamWorker::infer(const Buffer& input, stream::BatchTimes& times) {
  const auto begun = now_ns();
  const auto& api = environment_.api();
  const std::array<const char*, 2> names{parts_.input.name.c_str(),
                                         parts_.sizes ? parts_.sizes->name.c_str() : nullptr};
  const std::array<const OrtValue*, 2> inputs{input.value.get(), input.sizes.get()};
  const std::size_t count = parts_.sizes ? 2 : 1;
  if (bound_) {
    RL_TRY(bound_->transfer().to_device(input.device.get(), input.host.get(), input.bytes));
    const auto there = now_ns();
    RL_TRY(bound_->run(parts_.options.get(), std::span(names).first(count), std::span(inputs).first(count)));
    const auto ran = now_ns();
    RL_TRY_ASSIGN(auto values, bound_->take_outputs());
    times.inference_ns += ran - there;
    times.copy_ns += (there - begun) + (now_ns() - ran);
    return values;
  }
  std::vector<OrtValue*> raw(output_names_.size(), nullptr);
  // From api.Run to the end of the run on the device: outputs come back in host memory.
  const auto ran =
      check_ort(api, api.Run(const_cast<OrtSession*>(parts_.caller->session()), parts_.options.get(), names.data(),
                             inputs.data(), count, output_names_.data(), output_names_.size(), raw.data()));
  std::vector<OrtValueHandle> values;
  for (auto* one : raw) values.emplace_back(one, api.ReleaseValue);
  if (!ran) return tl::unexpected(ran.error());
  times.inference_ns += now_ns() - begun;
  return values;
}

base::Result<void> OrtStreamWorker::read(const std::vector<OrtValueHandle>& values) {
  for (std::size_t at = 0; at < values.size(); ++at)
    RL_TRY(read_[at].read(environment_.api(), values[at].get(), parts_.outputs[at]));
  return {};
}

base::Result<void> OrtStreamWorker::decode(const Group& group, std::span<const stream::BatchFrame> frames,
                                           const std::vector<OrtValueHandle>& values, std::span<std::string> results) {
  RL_TRY(read(values));
  for (std::size_t i = 0; i < group.places.size(); ++i) {
    const auto place = group.places[i];
    RL_TRY(cut_outputs(group.rows, i));
    auto& result = results[place];
    result.clear();
    RL_TRY(parts_.decoder->decode(views_, geometries_[place], result));
    RL_TRY(keep_tensors(frames[place]));
    if (!parts_.keeps_boxes) continue;
    const auto boxes = parts_.decoder->boxes();
    const auto quads = parts_.decoder->quads();
    found_[place].boxes.assign(boxes.begin(), boxes.end());
    found_[place].quads.assign(quads.begin(), quads.end());
  }
  return {};
}

base::Result<void> OrtStreamWorker::cut_outputs(std::int64_t rows, std::size_t row) {
  for (std::size_t at = 0; at < read_.size(); ++at) {
    const auto dims = read_[at].dims();
    const auto& name = parts_.outputs[at].description.name;
    const bool by_frame = !dims.empty() && dims[0] == rows;
    if (!by_frame && rows > 1)
      return base::fail(base::ErrorCode::invalid_argument,
                        "output {} has {} rows for a batch of {}; expected one for each frame", name,
                        dims.empty() ? 0 : dims[0], rows)
          .hint("set batch_size: 1");
    const auto share = [&](auto all) {
      const auto size = by_frame ? all.size() / static_cast<std::size_t>(rows) : all.size();
      return decltype(all)(all.data() + (by_frame ? row * size : 0), size);
    };
    views_[at] = {name, by_frame ? dims.subspan(1) : dims, share(read_[at].values()), is_integer(read_[at].type())};
    bytes_[at] = share(read_[at].bytes());
  }
  return {};
}

base::Result<void> OrtStreamWorker::keep_tensors(const stream::BatchFrame& frame) const {
  if (parts_.tensors == nullptr || frame.is_sample) return {};
  for (std::size_t at = 0; at < read_.size(); ++at)
    RL_TRY(parts_.tensors->write(frame.source, frame.sequence, at, read_[at].type(), views_[at].dims, bytes_[at]));
  return {};
}

}  // namespace ridgeline::workload
