// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/host_member.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "workload/onnx/ort_status.hpp"

namespace ridgeline::workload {

HostMember::HostMember(const SharedSession& session, SessionSettings::RunHandle options,
                       std::shared_ptr<const gpu::CudaDriver> pinned_by)
    : session_(session),
      api_(session.environment.api()),
      options_(std::move(options)),
      pinned_by_(std::move(pinned_by)),
      output_pointers_(session.outputs.size(), nullptr),
      failure_(nullptr, api_.ReleaseStatus) {}

HostMember::~HostMember() {
  if (has_fresh_) release_fresh();
}

base::Result<std::unique_ptr<ShapeRunner>> HostMember::create(const SharedSession& session,
                                                              const std::vector<Tensor>& tensors,
                                                              SessionSettings::RunHandle options,
                                                              std::shared_ptr<const gpu::CudaDriver> pinned_by) {
  std::unique_ptr<HostMember> member(new HostMember(session, std::move(options), std::move(pinned_by)));
  for (const auto& tensor : tensors) {
    if (member->pinned_by_ != nullptr && tensor.type != ElementType::string) {
      RL_TRY_ASSIGN(auto value, member->allocate(tensor.type, tensor.dims));
      member->inputs_.push_back(std::move(value));
      RL_TRY(fill_ort_tensor(member->api_, member->inputs_.back().get(), tensor));
    } else {
      RL_TRY_ASSIGN(auto value, make_ort_tensor(member->api_, tensor));
      member->inputs_.push_back(std::move(value));
    }
    member->input_pointers_.push_back(member->inputs_.back().get());
  }
  return std::unique_ptr<ShapeRunner>(std::move(member));
}

base::Result<OrtValueHandle> HostMember::allocate(ElementType type, const std::vector<std::int64_t>& dims) {
  RL_TRY_ASSIGN(const auto bytes, tensor_bytes(type, dims));
  RL_TRY_ASSIGN(auto buffer, gpu::PinnedBuffer::make(pinned_by_, static_cast<std::size_t>(bytes)));
  RL_TRY_ASSIGN(auto value, wrap_memory(api_, {MemoryPlace::pinned, buffer.data(), buffer.size()}, type, dims));
  pinned_.push_back(std::move(buffer));
  return value;
}

bool HostMember::run() noexcept {
  if (has_fresh_) release_fresh();
  const auto run_session = [this] {
    return api_.Run(session_.session, options_.get(), session_.input_names.data(), input_pointers_.data(),
                    input_pointers_.size(), session_.output_names.data(), session_.output_names.size(),
                    output_pointers_.data());
  };
  OrtStatus* status = run_session();
  if (status != nullptr && give_up_buffers()) {
    api_.ReleaseStatus(status);
    status = run_session();
  }
  if (status != nullptr) {
    failure_.reset(status);
    return false;
  }
  if (has_buffers_) return true;
  try {
    auto kept = keep_buffers();
    if (kept) return true;
    setup_failure_ = std::move(kept).error();
  } catch (const std::bad_alloc&) {
    setup_failure_ = {base::ErrorCode::out_of_memory, {}};
  }
  return false;
}

base::Result<void> HostMember::keep_buffers() {
  // The first run's own values may share memory with an input or a weight, so they are not what later runs write to.
  std::vector<OrtValueHandle> first;
  first.reserve(output_pointers_.size());
  for (auto& output : output_pointers_) first.emplace_back(std::exchange(output, nullptr), api_.ReleaseValue);
  for (std::size_t at = 0; at < first.size(); ++at) {
    RL_TRY_ASSIGN(const auto shape, fixed_shape(api_, first[at].get(), session_.outputs[at].description.dims));
    OrtValueHandle buffer(nullptr, api_.ReleaseValue);
    if (shape && pinned_by_ != nullptr) {
      RL_TRY_ASSIGN(buffer, allocate(shape->type, shape->dims));
    } else if (shape) {
      RL_TRY_ASSIGN(buffer, allocate_ort_tensor(api_, shape->type, shape->dims));
    }
    has_fresh_ = has_fresh_ || buffer == nullptr;
    output_pointers_[at] = buffer.get();
    output_buffers_.push_back(std::move(buffer));
  }
  has_buffers_ = true;
  return {};
}

bool HostMember::give_up_buffers() noexcept {
  bool any = false;
  for (std::size_t at = 0; at < output_buffers_.size(); ++at) {
    const auto& declared = session_.outputs[at].description.dims;
    const bool may_change =
        declared.empty() || std::any_of(declared.begin(), declared.end(), [](std::int64_t dim) { return dim < 0; });
    if (output_buffers_[at] == nullptr || !may_change) continue;
    output_buffers_[at].reset();
    output_pointers_[at] = nullptr;
    any = true;
  }
  has_fresh_ = has_fresh_ || any;
  return any;
}

void HostMember::release_fresh() noexcept {
  for (std::size_t at = 0; at < output_pointers_.size(); ++at) {
    if (output_buffers_[at] != nullptr || output_pointers_[at] == nullptr) continue;
    api_.ReleaseValue(output_pointers_[at]);
    output_pointers_[at] = nullptr;
  }
}

base::Error HostMember::last_error() const {
  if (failure_ == nullptr) return setup_failure_;
  return session_.environment.with_log(
      classify_ort_error(static_cast<int>(api_.GetErrorCode(failure_.get())), api_.GetErrorMessage(failure_.get())));
}

base::Result<void> HostMember::write_inputs(const std::vector<Tensor>& tensors) {
  for (std::size_t at = 0; at < tensors.size(); ++at)
    if (tensors[at].type != ElementType::string) RL_TRY(fill_ort_tensor(api_, inputs_[at].get(), tensors[at]));
  return {};
}

base::Result<void> HostMember::collect(OutputSet& outputs) {
  std::vector<OrtValue*> values(session_.outputs.size(), nullptr);
  auto ran = check_ort(api_, api_.Run(session_.session, options_.get(), session_.input_names.data(),
                                      input_pointers_.data(), input_pointers_.size(), session_.output_names.data(),
                                      session_.output_names.size(), values.data()));
  if (!ran) return tl::unexpected<base::Error>(session_.environment.with_log(std::move(ran).error()));
  std::vector<OrtValueHandle> handles;
  for (auto* value : values) handles.emplace_back(value, api_.ReleaseValue);
  for (std::size_t at = 0; at < values.size(); ++at)
    RL_TRY(append_outputs(api_, values[at], session_.outputs[at].description.name, outputs));
  return {};
}

}  // namespace ridgeline::workload
