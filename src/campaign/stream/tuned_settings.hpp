// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/error.hpp"
#include "schema/configuration.hpp"
#include "schema/found_runtime.hpp"
#include "schema/tune_run.hpp"

namespace ridgeline::campaign {

/// What a pipeline takes from a run of `ridgeline tune`.
struct TunedSettings {
  std::string run_id;
  std::string model;           ///< that it tuned,
  std::string content_sha256;  ///< and its content
  std::string provider;        ///< ExecutionProvider::id
  schema::RuntimeRequest where;
  /// Of sessions, providers and runs; how inferences were timed (batch size, sessions in flight, bound inputs) is the
  /// pipeline's own matter.
  schema::Configuration configuration;
  std::vector<std::string> left_out;  ///< "batch_size=4": settings of that kind
};

/// What the run recommends, which is what the user had where it says to keep that. Errors: invalid_argument (it has no
/// recommendation, or recommends something that is no ONNX model in ONNX Runtime).
[[nodiscard]] base::Result<TunedSettings> tuned_settings(const schema::TuneRun& run);

/// The same for another provider than the recommended one ("auto": any): without what only the recommended one has.
[[nodiscard]] schema::Configuration settings_for_provider(const schema::Configuration& configuration,
                                                          const std::string& provider);

/// Takes out what makes a provider capture one graph by itself: it replays one size of input at fixed addresses, and
/// frames have neither. The CUDA provider's graphs stay, as the pipeline captures one for each size. Returns what was
/// taken out, "trt_cuda_graph_enable=true".
[[nodiscard]] std::vector<std::string> take_out_graphs(schema::Configuration& configuration);

}  // namespace ridgeline::campaign
