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

std::int64_t now_ns() { return base::system_clock().now().count(); }

}  // namespace

OrtStreamWorker::OrtStreamWorker(const OrtEnvironment& environment, OrtStreamParts parts)
    : environment_(environment),
      parts_(std::move(parts)),
      host_(parts_.preprocessor.options(), parts_.input.value_type()),
      decoder_(environment, parts_.outputs) {
  for (const auto& port : parts_.outputs) output_names_.push_back(port.description.name.c_str());
}

void OrtStreamWorker::set_preprocessor(const stream::PreprocessOptions& options) {
  parts_.preprocessor = stream::Preprocessor(options);
  host_ = stream::HostPreprocessor(options, parts_.input.value_type());
}

base::Result<stream::BatchTimes> OrtStreamWorker::run(std::span<const stream::BatchFrame> frames,
                                                      std::uint32_t executed_size, std::span<std::string> results) {
  stream::BatchTimes times;
  parts_.caller->enter_float_mode();
  if (bound_) RL_TRY(bound_->transfer().enter());
  RL_TRY(group_frames(frames, executed_size, parts_.preprocessor, parts_.input, grouped_));
  decoder_.start(frames.size());
  for (const auto& one : grouped_.groups) RL_TRY(run_group(one, frames, results, times));
  return times;
}

base::Result<OrtStreamWorker::Probe> OrtStreamWorker::probe(const stream::Image& image) {
  parts_.caller->enter_float_mode();
  if (bound_) RL_TRY(bound_->transfer().enter());
  const stream::BatchFrame frame{.image = &image, .is_sample = true};
  RL_TRY(group_frames({&frame, 1}, 1, parts_.preprocessor, parts_.input, grouped_));
  const auto& only = grouped_.groups.front();
  RL_TRY_ASSIGN(auto* input, buffer(only));
  grouped_.plan(only, {&frame, 1}, planned_);
  RL_TRY(host_.run(planned_, input->data));
  stream::BatchTimes times;
  auto values = infer(*input, times);
  if (!values) return tl::unexpected(environment_.with_log(std::move(values).error()));
  RL_TRY(decoder_.read(*values));
  RL_TRY_ASSIGN(const auto outputs, decoder_.row(only.rows, 0));
  probed_ = std::move(*values);
  return Probe{outputs, only.geometry};
}

base::Result<OrtStreamWorker::Buffer*> OrtStreamWorker::buffer(const FrameGroup& group) {
  const auto dims = parts_.input.dims(group.rows, group.geometry.input_height, group.geometry.input_width);
  if (const auto found = buffers_.find(dims); found != buffers_.end()) return &found->second;
  if (buffers_.size() >= kMostBuffers) buffers_.clear();
  RL_TRY_ASSIGN(auto made, make_buffer(dims));
  // What pads a batch has to be numbers.
  std::fill_n(made.data, made.bytes, std::byte{0});
  if (parts_.sizes) {
    RL_TRY_ASSIGN(made.sizes, make_size_tensor(environment_.api(), *parts_.sizes, group));
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

base::Result<void> OrtStreamWorker::run_group(const FrameGroup& group, std::span<const stream::BatchFrame> frames,
                                              std::span<std::string> results, stream::BatchTimes& times) {
  const auto begun = now_ns();
  RL_TRY_ASSIGN(auto* input, buffer(group));
  grouped_.plan(group, frames, planned_);
  RL_TRY(host_.run(planned_, input->data));
  const auto filled = now_ns();
  times.preprocess_ns += filled - begun;
  auto values = infer(*input, times);
  if (!values) return tl::unexpected(environment_.with_log(std::move(values).error()));
  const auto ended = now_ns();
  RL_TRY(decoder_.read(*values));
  RL_TRY(decoder_.decode(grouped_, group, frames, results));
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

}  // namespace ridgeline::workload
