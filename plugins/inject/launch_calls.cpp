// SPDX-License-Identifier: Apache-2.0
#include "launch_calls.hpp"

namespace ridgeline::inject::RL_CUPTI {
namespace {

trace::Dim3 dim3_of(unsigned x, unsigned y, unsigned z) {
  return {static_cast<std::int32_t>(x), static_cast<std::int32_t>(y), static_cast<std::int32_t>(z)};
}

/// Parameters that have the extents one by one.
template <typename Parameters>
void read(const void* parameters, LaunchCall& out) {
  const auto& p = *static_cast<const Parameters*>(parameters);
  out.grid = dim3_of(p.gridDimX, p.gridDimY, p.gridDimZ);
  out.block = dim3_of(p.blockDimX, p.blockDimY, p.blockDimZ);
  out.stream = p.hStream;
}

}  // namespace

LaunchKind launch_kind(CUpti_CallbackId driver_call) {
  switch (driver_call) {
    case CUPTI_DRIVER_TRACE_CBID_cuLaunch:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchGrid:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchGridAsync:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz: return LaunchKind::kernel;
    case CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch:
    case CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz: return LaunchKind::graph;
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernelMultiDevice: return LaunchKind::several_devices;
    case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture:
    case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_ptsz:
    case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2:
    case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2_ptsz:
    case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToGraph:
    case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToGraph_ptsz: return LaunchKind::capture_begins;
    case CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture:
    case CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture_ptsz: return LaunchKind::capture_ends;
    default: return LaunchKind::none;
  }
}

LaunchCall launch_call(CUpti_CallbackId driver_call, const void* parameters) {
  LaunchCall out{.kind = launch_kind(driver_call)};
  if (parameters == nullptr) return out;
  switch (driver_call) {
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel: read<cuLaunchKernel_params>(parameters, out); break;
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz:
      read<cuLaunchKernel_ptsz_params>(parameters, out);
      out.per_thread = true;
      break;
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel:
      read<cuLaunchCooperativeKernel_params>(parameters, out);
      break;
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz:
      read<cuLaunchCooperativeKernel_ptsz_params>(parameters, out);
      out.per_thread = true;
      break;
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz: {
      const auto* config = static_cast<const cuLaunchKernelEx_params*>(parameters)->config;
      if (config == nullptr) break;
      out.grid = dim3_of(config->gridDimX, config->gridDimY, config->gridDimZ);
      out.block = dim3_of(config->blockDimX, config->blockDimY, config->blockDimZ);
      out.stream = config->hStream;
      out.per_thread = driver_call == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz;
      break;
    }
    case CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch:
    case CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz:
      out.stream = static_cast<const cuGraphLaunch_params*>(parameters)->hStream;
      out.per_thread = driver_call == CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz;
      break;
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchGrid: {
      const auto& p = *static_cast<const cuLaunchGrid_params*>(parameters);
      out.grid = {p.grid_width, p.grid_height, 1};
      break;
    }
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchGridAsync: {
      const auto& p = *static_cast<const cuLaunchGridAsync_params*>(parameters);
      out.grid = {p.grid_width, p.grid_height, 1};
      out.stream = p.hStream;
      break;
    }
    default: break;
  }
  return out;
}

}  // namespace ridgeline::inject::RL_CUPTI
