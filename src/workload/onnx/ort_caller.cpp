// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/ort_caller.hpp"

#include <utility>

#include "host/float_mode.hpp"
#include "workload/onnx/device_member.hpp"
#include "workload/onnx/fresh_inputs.hpp"
#include "workload/onnx/host_member.hpp"
#include "workload/onnx/ort_status.hpp"

namespace ridgeline::workload {

OrtCaller::OrtCaller(const OrtEnvironment& environment, SessionHandle session, TensorPlacement placement,
                     std::optional<gpu::CudaStream> stream, bool denormals_are_zero)
    : placement_(placement),
      stream_(std::move(stream)),
      handle_(std::move(session)),
      session_{environment, handle_.get(), {}, {}, {}, {}},
      denormals_are_zero_(denormals_are_zero) {}

OrtCaller::~OrtCaller() { host::set_float_mode(false); }

base::Result<std::unique_ptr<OrtCaller>> OrtCaller::create(const OrtEnvironment& environment,
                                                           const std::string& model_path,
                                                           const SessionSettings& settings, TensorPlacement placement,
                                                           std::optional<gpu::CudaStream> stream) {
  const auto& api = environment.api();
  OrtSession* session = nullptr;
  host::set_float_mode(settings.denormals_are_zero());  // which the session's own threads begin with
  if (auto created = check_ort(
          api, api.CreateSession(environment.env(), model_path.c_str(), settings.session_options(), &session));
      !created) {
    auto error = environment.with_log(std::move(created).error());
    // A model or settings that this runtime cannot do, no fault of ours. On a GPU what fails may be the device.
    if (error.code == base::ErrorCode::internal && placement.gpu == nullptr) error.code = base::ErrorCode::unsupported;
    return tl::unexpected<base::Error>(std::move(error));
  }
  std::unique_ptr<OrtCaller> caller(new OrtCaller(environment, SessionHandle(session, api.ReleaseSession), placement,
                                                  std::move(stream), settings.denormals_are_zero()));
  RL_TRY(caller->read_ports());
  return caller;
}

base::Result<std::unique_ptr<OrtCaller>> OrtCaller::share() const {
  std::unique_ptr<OrtCaller> caller(new OrtCaller(session_.environment, handle_, placement_, {}, denormals_are_zero_));
  RL_TRY(caller->read_ports());
  return caller;
}

base::Result<void> OrtCaller::read_ports() {
  const auto& api = session_.environment.api();
  RL_TRY_ASSIGN(session_.inputs, session_ports(api, handle_.get(), PortSide::inputs));
  RL_TRY_ASSIGN(session_.outputs, session_ports(api, handle_.get(), PortSide::outputs));
  for (const auto& port : session_.inputs) session_.input_names.push_back(port.description.name.c_str());
  for (const auto& port : session_.outputs) session_.output_names.push_back(port.description.name.c_str());
  return {};
}

base::Result<void> OrtCaller::add_shape_set(std::vector<Tensor> tensors, const SessionSettings& settings,
                                            int graph_id) {
  if (tensors.size() != session_.inputs.size())
    return base::fail(base::ErrorCode::internal, "{} tensors for {} inputs", tensors.size(), session_.inputs.size());
  Member member;
  RL_TRY_ASSIGN(auto options, settings.make_run_options(graph_id));
  if (placement_.binding == IoBinding::none || placement_.binding == IoBinding::pinned) {
    const auto pinned_by = placement_.binding == IoBinding::pinned ? placement_.gpu->driver : nullptr;
    RL_TRY_ASSIGN(member.runner, HostMember::create(session_, tensors, std::move(options), pinned_by));
  } else {
    const DeviceMember::Setup setup{*placement_.gpu, stream_ ? stream_->handle() : nullptr, placement_.copies};
    RL_TRY_ASSIGN(auto first_options, settings.make_run_options(SessionSettings::kNoGraph));
    RL_TRY_ASSIGN(member.runner,
                  DeviceMember::create(session_, setup, tensors, std::move(first_options), std::move(options)));
  }
  member.tensors = std::move(tensors);
  members_.push_back(std::move(member));
  return {};
}

base::Result<std::string> OrtCaller::end_profile() const {
  const auto& api = session_.environment.api();
  OrtAllocator* allocator = nullptr;
  RL_TRY(check_ort(api, api.GetAllocatorWithDefaultOptions(&allocator)));
  char* file = nullptr;
  RL_TRY(check_ort(api, api.SessionEndProfiling(handle_.get(), allocator, &file)));
  std::string path = file;
  RL_TRY(check_ort(api, api.AllocatorFree(allocator, file)));
  return path;
}

base::Result<std::int64_t> OrtCaller::profile_start_ns() const {
  const auto& api = session_.environment.api();
  std::uint64_t start = 0;
  RL_TRY(check_ort(api, api.SessionGetProfilingStartTimeNs(handle_.get(), &start)));
  return static_cast<std::int64_t>(start);
}

bool OrtCaller::step() noexcept {
  last_ = next_;
  if (++next_ == members_.size()) next_ = 0;
  enter_float_mode();
  const bool done = members_[last_].runner->run();
  met_denormals_ = met_denormals_ || host::has_met_denormals();
  return done;
}

void OrtCaller::enter_float_mode() const noexcept { host::set_float_mode(denormals_are_zero_); }

base::Error OrtCaller::last_error() const { return members_[last_].runner->last_error(); }

base::Result<void> OrtCaller::collect_outputs(OutputSet& outputs) {
  enter_float_mode();
  for (last_ = 0; last_ < members_.size(); ++last_) {
    const auto& member = members_[last_];
    RL_TRY(member.runner->collect(outputs));
    const auto first_fresh = outputs.size();
    RL_TRY(member.runner->write_inputs(fresh_inputs(member.tensors)));
    RL_TRY(member.runner->collect(outputs));
    for (auto at = first_fresh; at < outputs.size(); ++at) outputs[at].name += " (second inputs)";
    RL_TRY(member.runner->write_inputs(member.tensors));
  }
  last_ = 0;
  return {};
}

}  // namespace ridgeline::workload
