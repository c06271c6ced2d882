// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "base/error.hpp"
#include "schema/configuration.hpp"
#include "workload/onnx/ort_environment.hpp"

struct OrtArenaCfg;

namespace ridgeline::workload {

/// Whether a configuration sets up the CUDA provider's arena (ParamScope::arena_option): its sessions then take the one
/// that a SharedArena has registered.
[[nodiscard]] bool sets_arena(const schema::Configuration& configuration);

/// The arena options of a configuration as ONNX Runtime takes them. They replace gpu_mem_limit_gb and
/// arena_extend_strategy, which go into them. Errors: invalid_argument for a key that this library does not know.
[[nodiscard]] base::Result<std::shared_ptr<OrtArenaCfg>> make_arena_config(const OrtApi& api,
                                                                           const schema::Configuration& configuration);

/// An arena of GPU memory for all sessions of this process that ask for it. ONNX Runtime 1.29 does not look at a
/// default_memory_arena_cfg of the provider's own (tried on an H200), but at one that is registered with the
/// environment, of which a process has one. Lives as long as the last holder; each keeps its environment for longer.
class SharedArena {
 public:
  /// The arena that another holder has registered with the same settings, or a new one; nullptr when the configuration
  /// asks for none. The provider's libraries must be loadable. Errors: unsupported while another holder has other
  /// settings; those of the runtime.
  [[nodiscard]] static base::Result<std::shared_ptr<SharedArena>> of(const OrtEnvironment& environment,
                                                                     const schema::Configuration& configuration);
  SharedArena(const SharedArena&) = delete;
  SharedArena& operator=(const SharedArena&) = delete;
  ~SharedArena();

 private:
  SharedArena(const OrtEnvironment& environment, schema::Configuration settings)
      : api_(environment.api()), env_(environment.env()), settings_(std::move(settings)) {}
  const OrtApi& api_;
  OrtEnv* env_;
  schema::Configuration settings_;
  bool registered_ = false;
};

}  // namespace ridgeline::workload
