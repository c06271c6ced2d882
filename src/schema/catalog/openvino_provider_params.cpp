// SPDX-License-Identifier: Apache-2.0
// Options of OpenVINO's provider, built in (ONNX Runtime 1.17 to 1.24) and as a plug-in. A target "load_config.X" is
// the property X of the device in the text of the option load_config, which the plug-in takes instead of most options,
// and the built-in one from 1.23 on.
#include "schema/catalog.hpp"
#include "schema/catalog/param_rows.hpp"
#include "schema/execution_provider.hpp"

namespace ridgeline::schema {
namespace {

ParamDef between(double minimum, double maximum, ParamDef row) {
  row.minimum = minimum;
  row.maximum = maximum;
  return row;
}

/// Of both providers.
ParamDef property(std::string key, const std::string& name, ParamType type, std::optional<Value> default_value) {
  return since("1.23.0", provider_row(std::move(key), "load_config." + name, namesake_ids("openvino"), type,
                                      std::move(default_value)));
}

/// Of the built-in provider alone.
ParamDef built_in(std::string key, std::string target, ParamType type, std::optional<Value> default_value) {
  return provider_row(std::move(key), std::move(target), {"openvino"}, type, std::move(default_value));
}

/// With 1.23 properties took their place.
ParamDef before_properties(ParamDef row) {
  row.before = "1.23.0";
  return row;
}

}  // namespace

std::vector<ParamDef> openvino_provider_params() {
  using enum ParamType;
  const std::vector<Value> no_yes{"NO", "YES"};
  const auto threads = [](ParamDef row) {
    return described(between(0, 1024, std::move(row)),
                     "threads that OpenVINO uses; 0 = its own choice, about one per physical core",
                     "always; with hyper-threads or other busy processes, fewer threads are faster",
                     "values above the number of cores count as the number of cores");
  };
  const auto streams = [](ParamDef row) {
    return on_request(described(between(1, 256, std::move(row)),
                                "number of parallel inferences that the threads are divided among",
                                "concurrent_runs above 1; for one inference at a time one stream is right",
                                "each inference gets fewer threads"));
  };
  return {
      threads(property("openvino_threads", "INFERENCE_NUM_THREADS", integer, 0)),
      before_properties(threads(built_in("openvino_num_of_threads", "num_of_threads", integer, 0))),
      streams(property("openvino_streams", "NUM_STREAMS", integer, 1)),
      before_properties(streams(built_in("openvino_num_streams", "num_streams", integer, 1))),
      described(one_of({"f32", "bf16", "f16"},
                       property("openvino_precision", "INFERENCE_PRECISION_HINT", choice, std::nullopt)),
                "type that OpenVINO computes in; the built-in provider's default is f32",
                "CPUs with bf16 or fp16 instructions", "changes results; guarded by the accuracy check"),
      on_request(described(one_of({"PERFORMANCE", "ACCURACY"},
                                  property("openvino_execution_mode", "EXECUTION_MODE_HINT", choice, std::nullopt)),
                           "PERFORMANCE lets OpenVINO compute with fewer bits, ACCURACY keeps the model's precision",
                           "instead of openvino_precision",
                           "not together with openvino_precision; may change results")),
      on_request(described(one_of({"LATENCY", "THROUGHPUT"},
                                  property("openvino_performance_hint", "PERFORMANCE_HINT", choice, std::nullopt)),
                           "goal for which OpenVINO chooses threads and streams", "concurrent_runs above 1",
                           "THROUGHPUT alone keeps one stream: set openvino_streams as well")),
      described(one_of(no_yes, property("openvino_hyper_threading", "ENABLE_HYPER_THREADING", choice, std::nullopt)),
                "whether OpenVINO's threads may share a core", "SMT", "no effect on a CPU without SMT"),
      on_request(described(one_of(no_yes, property("openvino_pinning", "ENABLE_CPU_PINNING", choice, std::nullopt)),
                           "whether OpenVINO's threads stay on their cores", "several sockets, hybrid CPUs",
                           "no thread's mask changed when tested on a virtual machine")),
      on_request(described(one_of({"ANY_CORE", "PCORE_ONLY", "ECORE_ONLY"},
                                  property("openvino_core_type", "SCHEDULING_CORE_TYPE", choice, "ANY_CORE")),
                           "kind of core that OpenVINO's threads run on", "CPUs with performance and efficient cores",
                           "the other cores idle")),
      on_request(described(property("openvino_cache_dir", "CACHE_DIR", text, ""), "folder for compiled models",
                           "slow session creation", "no faster inference; grows with every model")),
      on_request(described(provider_row("openvino_load_config", "load_config", namesake_ids("openvino"), text, ""),
                           "further properties as JSON text, such as {\"CPU\":{\"ENABLE_CPU_RESERVATION\":\"YES\"}}",
                           "properties without a parameter of their own",
                           "an unknown property makes session creation fail; if a parameter sets the same property, "
                           "the parameter wins")),
      on_request(
          since("1.23.0",
                described(provider_row("openvino_reshape_input", "reshape_input", namesake_ids("openvino"), text, ""),
                          "shapes to fix the inputs to, such as x[1,3,224..640,224..640]",
                          "dynamic dimensions with known bounds", "the session then accepts only these shapes"))),
      described(one_of({"false", "true"},
                       built_in("openvino_disable_dynamic_shapes", "disable_dynamic_shapes", choice, "false")),
                "compile the model for each input shape instead of once for all", "dynamic dimensions and few shapes",
                "compiles in the first run of each shape and keeps every compiled model: many shapes fill the memory"),
      on_request(described(built_in("openvino_device", "device_type", text, std::nullopt),
                           "device in capitals: CPU, GPU, GPU.1, NPU, AUTO:GPU,CPU; the PyPI package uses the CPU",
                           "Intel GPUs and NPUs",
                           "a name in lower case is accepted but runs no node, which fails the trial")),
  };
}

}  // namespace ridgeline::schema
