// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/ort_lane.hpp"

#include <new>
#include <utility>

#include "workload/onnx/ort_status.hpp"

namespace ridgeline::workload {

using base::ErrorCode;

OrtLane::OrtLane(const OrtEnvironment& environment, const SessionSettings& settings, SessionHandle session)
    : environment_(environment),
      api_(environment.api()),
      run_options_(settings.run_options()),
      session_(std::move(session)),
      failure_(nullptr, api_.ReleaseStatus) {}

OrtLane::~OrtLane() {
  for (auto& member : members_)
    if (member.has_fresh) release_fresh(member);
}

base::Result<std::unique_ptr<OrtLane>> OrtLane::create(const OrtEnvironment& environment, const std::string& model_path,
                                                       const SessionSettings& settings) {
  const auto& api = environment.api();
  OrtSession* session = nullptr;
  if (auto created = check_ort(
          api, api.CreateSession(environment.env(), model_path.c_str(), settings.session_options(), &session));
      !created)
    return tl::unexpected<base::Error>(environment.with_log(std::move(created).error()));
  std::unique_ptr<OrtLane> lane(new OrtLane(environment, settings, SessionHandle(session, api.ReleaseSession)));
  RL_TRY_ASSIGN(lane->inputs_, session_ports(api, session, PortSide::inputs));
  RL_TRY_ASSIGN(lane->outputs_, session_ports(api, session, PortSide::outputs));
  for (const auto& port : lane->inputs_) lane->input_names_.push_back(port.description.name.c_str());
  for (const auto& port : lane->outputs_) lane->output_names_.push_back(port.description.name.c_str());
  return lane;
}

base::Result<void> OrtLane::add_shape_set(const std::vector<Tensor>& tensors) {
  if (tensors.size() != inputs_.size())
    return base::fail(ErrorCode::internal, "{} tensors for {} inputs", tensors.size(), inputs_.size());
  Member member;
  for (const auto& tensor : tensors) {
    RL_TRY_ASSIGN(auto value, make_ort_tensor(api_, tensor));
    member.inputs.push_back(value.get());
    member.input_handles.push_back(std::move(value));
  }
  member.outputs.assign(outputs_.size(), nullptr);
  members_.push_back(std::move(member));
  return {};
}

bool OrtLane::step() noexcept {
  auto& member = members_[next_];
  if (++next_ == members_.size()) next_ = 0;
  if (member.has_fresh) release_fresh(member);
  OrtStatus* status = api_.Run(session_.get(), run_options_, input_names_.data(), member.inputs.data(),
                               member.inputs.size(), output_names_.data(), output_names_.size(), member.outputs.data());
  if (status != nullptr) {
    failure_.reset(status);
    return false;
  }
  if (member.has_buffers) return true;
  try {
    auto kept = keep_buffers(member);
    if (kept) return true;
    setup_failure_ = std::move(kept).error();
  } catch (const std::bad_alloc&) {
    setup_failure_ = {ErrorCode::out_of_memory, {}};
  }
  return false;
}

base::Result<void> OrtLane::keep_buffers(Member& member) {
  // The first run's own values may share memory with an input or a weight, so they are not what later runs write to.
  std::vector<OrtValueHandle> first;
  first.reserve(outputs_.size());
  for (auto& output : member.outputs) first.emplace_back(std::exchange(output, nullptr), api_.ReleaseValue);
  std::vector<OrtValueHandle> buffers;
  for (std::size_t at = 0; at < outputs_.size(); ++at) {
    RL_TRY_ASSIGN(auto buffer, make_tensor_like(api_, first[at].get(), outputs_[at].description.dims));
    buffers.push_back(std::move(buffer));
  }
  for (std::size_t at = 0; at < buffers.size(); ++at) {
    member.outputs[at] = buffers[at].get();
    member.has_fresh = member.has_fresh || buffers[at] == nullptr;
  }
  member.output_handles = std::move(buffers);
  member.has_buffers = true;
  return {};
}

void OrtLane::release_fresh(Member& member) noexcept {
  for (std::size_t at = 0; at < member.outputs.size(); ++at) {
    if (member.output_handles[at] != nullptr || member.outputs[at] == nullptr) continue;
    api_.ReleaseValue(member.outputs[at]);
    member.outputs[at] = nullptr;
  }
}

base::Error OrtLane::last_error() const {
  if (failure_ == nullptr) return setup_failure_;
  return environment_.with_log(
      classify_ort_error(static_cast<int>(api_.GetErrorCode(failure_.get())), api_.GetErrorMessage(failure_.get())));
}

base::Result<void> OrtLane::collect_outputs(OutputSet& outputs) {
  for (const auto& member : members_) {
    std::vector<OrtValue*> values(outputs_.size(), nullptr);
    auto ran =
        check_ort(api_, api_.Run(session_.get(), run_options_, input_names_.data(), member.inputs.data(),
                                 member.inputs.size(), output_names_.data(), output_names_.size(), values.data()));
    if (!ran) return tl::unexpected<base::Error>(environment_.with_log(std::move(ran).error()));
    std::vector<OrtValueHandle> handles;
    for (auto* value : values) handles.emplace_back(value, api_.ReleaseValue);
    for (std::size_t at = 0; at < values.size(); ++at)
      RL_TRY(append_outputs(api_, values[at], outputs_[at].description.name, outputs));
  }
  return {};
}

}  // namespace ridgeline::workload
