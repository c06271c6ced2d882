// SPDX-License-Identifier: Apache-2.0
#include "campaign/profile/verifiable_change.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "campaign/messages.hpp"

namespace ridgeline::campaign {
namespace {

constexpr std::array kProgramChanges{
    ProgramChange{"fp32-gemm", "tf32", &messages::verify_tf32},
    ProgramChange{"half-precision", "autocast", &messages::verify_autocast},
    ProgramChange{"unfused-attention", "sdpa", &messages::verify_sdpa},
    ProgramChange{"launch-bound", "cuda_graph", &messages::verify_cuda_graph},
    ProgramChange{"elementwise-chain", "compile", &messages::verify_compile},
    ProgramChange{"memory-bound", "compile", &messages::verify_compile},
    ProgramChange{"layout", "channels_last", &messages::verify_channels_last},
    ProgramChange{"pageable-copy", "pin_memory", &messages::verify_pin_memory},
    ProgramChange{"pageable-wait", "pin_memory", &messages::verify_pin_memory},
    ProgramChange{"loader-bound", "loader_workers", &messages::verify_loader_workers},
    ProgramChange{"tiny-optimizer-kernels", "fused_optimizer", &messages::verify_fused_optimizer},
};

const std::array<ModelChange, 6>& model_changes() {
  static const std::array<ModelChange, 6> changes{{
      {"launch-bound", "cuda", "enable_cuda_graph", true},
      {"fp32-gemm", "cuda", "use_tf32", true},
      {"layout", "cuda", "prefer_nhwc", true},
      {"unfused-normalization", "", "graph_optimization_level", "all"},
      {"elementwise-chain", "", "graph_optimization_level", "all"},
      {"unfused-attention", "", "graph_optimization_level", "all"},
  }};
  return changes;
}

}  // namespace

const ProgramChange* program_change(std::string_view rule) {
  const auto* found = std::find_if(kProgramChanges.begin(), kProgramChanges.end(),
                                   [&](const ProgramChange& change) { return change.rule == rule; });
  return found == kProgramChanges.end() ? nullptr : found;
}

std::string ModelChange::setting() const { return fmt::format("{}={}", key, value.to_text()); }

const ModelChange* model_change(std::string_view rule, std::string_view provider) {
  const auto& all = model_changes();
  const auto* found = std::find_if(all.begin(), all.end(), [&](const ModelChange& change) {
    return change.rule == rule && (change.provider.empty() || change.provider == provider);
  });
  return found == all.end() ? nullptr : found;
}

}  // namespace ridgeline::campaign
