// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/ort_stream_worker.hpp"

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "workload/onnx/ort_status.hpp"

namespace ridgeline::workload {
namespace {

/// Sizes of input whose buffers are kept; a source of ever new sizes must not fill the memory.
constexpr std::size_t kMostBuffers = 32;

std::int64_t now_ns() { return base::system_clock().now().count(); }

}  // namespace

OrtStreamWorker::OrtStreamWorker(const OrtEnvironment& environment, std::unique_ptr<OrtCaller> caller, ImageInput input,
                                 std::vector<OrtPort> outputs, SessionSettings::RunHandle options,
                                 stream::Preprocessor preprocessor, std::unique_ptr<stream::ResultDecoder> decoder)
    : environment_(environment),
      caller_(std::move(caller)),
      input_(std::move(input)),
      outputs_(std::move(outputs)),
      options_(std::move(options)),
      preprocessor_(std::move(preprocessor)),
      decoder_(std::move(decoder)),
      read_(outputs_.size()) {
  for (const auto& port : outputs_) output_names_.push_back(port.description.name.c_str());
}

base::Result<stream::BatchTimes> OrtStreamWorker::run(std::span<const stream::Image* const> images,
                                                      std::uint32_t executed_size, std::span<std::string> results) {
  stream::BatchTimes times;
  if (bound_) RL_TRY(bound_->transfer().enter());
  RL_TRY_ASSIGN(const auto groups, group(images));
  for (const auto& one : groups) {
    const auto wanted = groups.size() == 1 ? executed_size : static_cast<std::uint32_t>(one.places.size());
    RL_TRY(run_group(one, images, input_.batch > 0 ? input_.batch : static_cast<std::int64_t>(wanted), results, times));
  }
  return times;
}

base::Result<std::vector<OrtStreamWorker::Group>> OrtStreamWorker::group(std::span<const stream::Image* const> images) {
  std::vector<Group> groups;
  geometries_.clear();
  for (std::size_t i = 0; i < images.size(); ++i) {
    RL_TRY_ASSIGN(const auto geometry,
                  preprocessor_.plan(images[i]->width, images[i]->height, input_.width, input_.height));
    geometries_.push_back(geometry);
    auto found = std::find_if(groups.begin(), groups.end(), [&](const Group& group) {
      return group.geometry.input_width == geometry.input_width && group.geometry.input_height == geometry.input_height;
    });
    if (found == groups.end()) found = groups.insert(groups.end(), Group{geometry, {}});
    found->places.push_back(i);
  }
  return groups;
}

base::Result<OrtStreamWorker::Buffer*> OrtStreamWorker::buffer(std::int64_t frames,
                                                               const stream::FrameGeometry& geometry) {
  const auto dims = input_.dims(frames, geometry.input_height, geometry.input_width);
  if (const auto found = buffers_.find(dims); found != buffers_.end()) return &found->second;
  if (buffers_.size() >= kMostBuffers) buffers_.clear();
  RL_TRY_ASSIGN(auto made, make_buffer(dims));
  made.frame_bytes = made.bytes / static_cast<std::size_t>(frames);
  // What pads a batch has to be numbers.
  std::fill_n(made.data, made.bytes, std::byte{0});
  return &buffers_.emplace(dims, std::move(made)).first->second;
}

base::Result<OrtStreamWorker::Buffer> OrtStreamWorker::make_buffer(const std::vector<std::int64_t>& dims) const {
  const auto& api = environment_.api();
  RL_TRY_ASSIGN(const auto size, tensor_bytes(input_.type, dims));
  const auto bytes = static_cast<std::size_t>(size);
  if (!bound_) {
    RL_TRY_ASSIGN(auto value, allocate_ort_tensor(api, input_.type, dims));
    void* data = nullptr;
    RL_TRY(check_ort(api, api.GetTensorMutableData(value.get(), &data)));
    return Buffer{std::move(value), static_cast<std::byte*>(data), 0, {}, {}, bytes};
  }
  const auto& transfer = bound_->transfer();
  RL_TRY_ASSIGN(auto host, transfer.allocate_host(bytes));
  RL_TRY_ASSIGN(auto device, transfer.allocate_device(bytes));
  RL_TRY_ASSIGN(auto value, wrap_memory(api, {transfer.place(), device.get(), bytes}, input_.type, dims));
  auto* const data = static_cast<std::byte*>(host.get());
  return Buffer{std::move(value), data, 0, std::move(host), std::move(device), bytes};
}

base::Result<void> OrtStreamWorker::bind(std::unique_ptr<DeviceTransfer> transfer) {
  RL_TRY_ASSIGN(bound_, BoundSession::create(environment_, caller_->session(), outputs_, std::move(transfer)));
  return {};
}

base::Result<void> OrtStreamWorker::fill(const Buffer& buffer, std::size_t at, const stream::Image& image,
                                         const stream::FrameGeometry& geometry) {
  std::byte* begin = buffer.data + at * buffer.frame_bytes;
  const auto elements = preprocessor_.elements(geometry);
  switch (input_.type) {
    case ElementType::uint8:
      return preprocessor_.run_bytes(image, geometry, {reinterpret_cast<std::uint8_t*>(begin), elements});
    case ElementType::float16:
      return preprocessor_.run_half(image, geometry, {reinterpret_cast<std::uint16_t*>(begin), elements});
    default: return preprocessor_.run(image, geometry, {reinterpret_cast<float*>(begin), elements});
  }
}

base::Result<void> OrtStreamWorker::run_group(const Group& group, std::span<const stream::Image* const> images,
                                              std::int64_t frames, std::span<std::string> results,
                                              stream::BatchTimes& times) {
  const auto begun = now_ns();
  RL_TRY_ASSIGN(auto* input, buffer(frames, group.geometry));
  for (std::size_t i = 0; i < group.places.size(); ++i)
    RL_TRY(fill(*input, i, *images[group.places[i]], geometries_[group.places[i]]));
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
  const char* name = input_.name.c_str();
  if (bound_) {
    RL_TRY(bound_->transfer().to_device(input.device.get(), input.host.get(), input.bytes));
    const auto there = now_ns();
    RL_TRY(bound_->run(options_.get(), name, input.value.get()));
    const auto ran = now_ns();
    RL_TRY_ASSIGN(auto values, bound_->take_outputs());
    times.inference_ns += ran - there;
    times.copy_ns += (there - begun) + (now_ns() - ran);
    return values;
  }
  const OrtValue* value = input.value.get();
  std::vector<OrtValue*> raw(outputs_.size(), nullptr);
  // From api.Run to the end of the run on the device: outputs come back in host memory.
  const auto ran = check_ort(api, api.Run(const_cast<OrtSession*>(caller_->session()), options_.get(), &name, &value, 1,
                                          output_names_.data(), output_names_.size(), raw.data()));
  std::vector<OrtValueHandle> values;
  for (auto* one : raw) values.emplace_back(one, api.ReleaseValue);
  if (!ran) return tl::unexpected(ran.error());
  times.inference_ns += now_ns() - begun;
  return values;
}

base::Result<void> OrtStreamWorker::decode(const Group& group, std::int64_t frames,
                                           const std::vector<OrtValueHandle>& values, std::span<std::string> results) {
  for (std::size_t at = 0; at < values.size(); ++at)
    RL_TRY(read_[at].read(environment_.api(), values[at].get(), outputs_[at]));
  std::vector<stream::OutputView> views(values.size());
  for (std::size_t i = 0; i < group.places.size(); ++i) {
    for (std::size_t at = 0; at < values.size(); ++at) {
      const auto dims = read_[at].dims();
      const auto all = read_[at].values();
      const bool by_frame = !dims.empty() && dims[0] == frames;
      if (!by_frame && frames > 1)
        return base::fail(base::ErrorCode::invalid_argument,
                          "output {} has {} rows for a batch of {}; expected one for each frame",
                          outputs_[at].description.name, dims.empty() ? 0 : dims[0], frames)
            .hint("set batch_size: 1");
      const auto size = by_frame ? all.size() / static_cast<std::size_t>(frames) : all.size();
      views[at] = {outputs_[at].description.name, by_frame ? dims.subspan(1) : dims,
                   all.subspan(by_frame ? i * size : 0, size)};
    }
    auto& result = results[group.places[i]];
    result.clear();
    RL_TRY(decoder_->decode(views, geometries_[group.places[i]], result));
  }
  return {};
}

}  // namespace ridgeline::workload
