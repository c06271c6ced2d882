// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "schema/configuration.hpp"
#include "workload/synthetic/synthetic_options.hpp"

namespace ridgeline::workload {

/// Noise-free duration of one inference as a multiple of that at the default settings (which is exactly 1). Follows the
/// effects seen in ONNX Runtime on CPUs: Amdahl's law with a synchronisation cost for threads, oversubscription by
/// parallel sessions, spinning that pays alone and hurts in company, graph rewriting, arena, prepacking.
[[nodiscard]] double relative_duration(const SyntheticOptions& options, const schema::Configuration& configuration);

}  // namespace ridgeline::workload
