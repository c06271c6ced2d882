// SPDX-License-Identifier: Apache-2.0
#include "gpu/multistream_state.hpp"

#include <array>

namespace ridgeline::gpu {

base::Result<void> enter_multistream_state(const std::shared_ptr<const CudaDriver>& driver) {
  constexpr int kLaunchesOnEach = 32;
  RL_TRY_ASSIGN(const auto kernel, CudaKernel::make_empty(driver));
  RL_TRY_ASSIGN(auto one, CudaStream::make(driver));
  RL_TRY_ASSIGN(auto other, CudaStream::make(driver));
  const std::array streams{&one, &other};
  for (int at = 0; at < kLaunchesOnEach; ++at)
    for (const auto* stream : streams)
      if (const auto status = kernel.launch(stream->handle()); status != kCudaSuccess)
        return tl::unexpected<base::Error>(driver->error(status, "working on several streams"));
  for (const auto* stream : streams)
    if (const auto status = stream->synchronize(); status != kCudaSuccess)
      return tl::unexpected<base::Error>(driver->error(status, "working on several streams"));
  return {};
}

}  // namespace ridgeline::gpu
