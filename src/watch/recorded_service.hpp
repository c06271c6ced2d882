// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "gpu/nvml_api.hpp"
#include "store/store.hpp"
#include "watch/profile_responder.hpp"

namespace ridgeline::watch {

/// How the process of a service is found and recorded.
struct ServiceRecording {
  std::string gpu;  ///< UUID of the GPU that became slower; "": the CPU
  double duration_s = 0;
  std::string library;                 ///< RecordRequest::library
  std::string python_folder;           ///< likewise
  std::string trace_folder;            ///< likewise
  std::vector<std::string> arguments;  ///< of our own command line
  std::vector<std::string> nvml = gpu::NvmlApi::default_candidates();
};

/// The process in which a recorder waits and that uses the GPU, of several the one with the most of its memory. If the
/// driver lists none of them, as in a container, the only one in which a recorder waits. Errors: not_found, with what
/// to do.
[[nodiscard]] base::Result<std::int64_t> find_service(const ServiceRecording& recording);

/// Records it and stores the profile. Errors: those of find_service, of IdleRecorder and of the store.
[[nodiscard]] base::Result<ServiceProfile> record_service(const ServiceRecording& recording, store::Store& store);

}  // namespace ridgeline::watch
