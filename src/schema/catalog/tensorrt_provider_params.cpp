// SPDX-License-Identifier: Apache-2.0
// Options of ONNX Runtime's TensorRT provider: the option table of the 1.29 and 1.31 libraries without the device,
// the pointers (streams, byte streams) and their sizes.
#include "schema/catalog.hpp"
#include "schema/catalog/param_rows.hpp"

namespace ridgeline::schema {
namespace {

ParamDef option(const std::string& key, ParamType type, std::optional<Value> default_value, std::string summary,
                std::string when, std::string hazard = "") {
  // Each value costs an engine build (seconds to minutes), so only a few rows are swept.
  return on_request(described(provider_row(key, key, {"tensorrt"}, type, std::move(default_value)), std::move(summary),
                              std::move(when), std::move(hazard)));
}

ParamDef flag(const std::string& key, std::string summary, std::string when, std::string hazard = "") {
  return option(key, ParamType::boolean, false, std::move(summary), std::move(when), std::move(hazard));
}

ParamDef text(const std::string& key, std::string summary, std::string when, std::string hazard = "") {
  return option(key, ParamType::text, "", std::move(summary), std::move(when), std::move(hazard));
}

ParamDef count(const std::string& key, int default_value, double minimum, double maximum, std::string summary,
               std::string when, std::string hazard = "") {
  auto row = option(key, ParamType::integer, default_value, std::move(summary), std::move(when), std::move(hazard));
  row.minimum = minimum;
  row.maximum = maximum;
  return row;
}

ParamDef swept(ParamDef row, std::vector<Value> values = {}) {
  row.searched = true;
  if (!values.empty()) row.choices = std::move(values);
  return row;
}

void append(std::vector<ParamDef>& rows, std::vector<ParamDef> more) {
  for (auto& row : more) rows.push_back(std::move(row));
}

std::vector<ParamDef> speed_params() {
  auto workspace = count("trt_max_workspace_size", 0, 0, 1e15,
                         "scratch memory that tactics may use; 0 = all of it (before 1.20: 1 GiB)",
                         "GPU memory is short", "too small a limit rules out fast tactics");
  workspace.unit = "bytes";
  return {
      swept(flag("trt_cuda_graph_enable", "capture the engine's launches once and replay them as one",
                 "launch-bound models with fixed shapes", "the whole model must be one engine; needs bound device IO")),
      swept(count("trt_builder_optimization_level", 3, 0, 5, "how hard the builder looks for fast tactics",
                  "level 5 can be faster", "higher levels take minutes to build"),
            {5}),
      swept(count("trt_auxiliary_streams", -1, -1, 64, "additional streams an engine may use; -1 = automatic, 0 = none",
                  "engines with parallel branches; 0 needs the minimum memory",
                  "each stream needs its own scratch memory"),
            {0}),
      flag("trt_context_memory_sharing_enable", "share scratch memory among the engines of one session",
           "models that split into several engines: less memory", "engines that share memory cannot run in parallel"),
      std::move(workspace),
      flag("trt_build_heuristics_enable", "choose tactics by heuristics instead of timing them",
           "the build takes too long", "slower engines"),
      flag("trt_sparsity_enable", "use structured sparsity", "weights pruned 2:4", "no effect on dense weights"),
      text("trt_tactic_sources", "tactic sources to add or remove, such as \"-CUDNN,+CUBLAS\"",
           "keeping a library out of the engine", "too few sources make slower engines, or none"),
      since("1.22.0", text("trt_preview_features", "comma-separated preview features of the builder",
                           "trying features of a later TensorRT", "names change between releases")),
      since("1.19.0", flag("trt_engine_hw_compatible", "build engines that also run on other Ampere and later GPUs",
                           "one engine file for several GPU models", "slower than an engine for this GPU")),
      count("trt_max_partition_iterations", 1000, 1, 1000000, "maximum rounds of splitting the graph",
            "odd partitionings", "too few leave nodes to the next provider"),
      count("trt_min_subgraph_size", 1, 1, 1000000, "minimum number of nodes in an engine",
            "models that split into many tiny engines with copies between them",
            "nodes left out run on the next provider"),
      since("1.21.0",
            text("trt_op_types_to_exclude", "comma-separated operator types left to the next provider",
                 "an operator that TensorRT runs badly", "each splits the graph, with copies between the parts")),
  };
}

std::vector<ParamDef> precision_params() {
  const std::string drift = "changes results; guarded by the accuracy check";
  return {
      flag("trt_fp16_enable", "allow fp16 kernels", "models that stay accurate in fp16: often twice as fast", drift),
      since("1.23.0",
            flag("trt_bf16_enable", "allow bf16 kernels", "Ampere and later, values outside fp16's range", drift)),
      flag("trt_int8_enable", "allow int8 kernels", "quantised models, or a calibration table", drift),
      text("trt_int8_calibration_table_name", "file of the int8 calibration", "trt_int8_enable without QDQ nodes",
           "a table of another model or range: results far off"),
      flag("trt_int8_use_native_calibration_table", "the calibration table is TensorRT's own format",
           "trt_int8_calibration_table_name", "a table in the other format is misread"),
      flag("trt_layer_norm_fp32_fallback", "LayerNorm in fp32 within fp16 engines", "accuracy of fp16 transformers",
           "slower"),
      flag("trt_dla_enable", "run on the deep learning accelerator", "Jetson",
           "no effect without one; fewer operators"),
      count("trt_dla_core", 0, 0, 15, "number of the accelerator core", "Jetson with trt_dla_enable",
            "core 0 is used if the core does not exist"),
  };
}

std::vector<ParamDef> shape_and_cache_params() {
  const std::string stale = "never invalidated by a change of model, ONNX Runtime, TensorRT or GPU";
  auto embed = count("trt_ep_context_embed_mode", 0, 0, 1,
                     "0 = the context model refers to the engine file, 1 = it contains the engine",
                     "trt_dump_ep_context_model", "1 fails above 2 GB");
  return {
      text("trt_profile_min_shapes", "smallest shapes, such as images:1x3x224x224", "dynamic shapes; set all three",
           "a shape outside the profile builds the engine again"),
      text("trt_profile_opt_shapes", "shapes to optimise for", "dynamic shapes; set all three",
           "other shapes are slower"),
      text("trt_profile_max_shapes", "largest shapes", "dynamic shapes; set all three",
           "memory is allocated for the largest shapes"),
      flag("trt_engine_cache_enable", "keep built engines on disk", "every start but the first", stale),
      text("trt_engine_cache_path", "folder of the engine cache", "trt_engine_cache_enable", stale),
      text("trt_engine_cache_prefix", "file name prefix in the engine cache", "several models in one folder",
           "the same prefix for two models loads the wrong engine"),
      flag("trt_timing_cache_enable", "keep tactic timings on disk",
           "several builds on one GPU: builds are far shorter", stale),
      text("trt_timing_cache_path", "folder of the timing cache", "trt_timing_cache_enable", stale),
      flag("trt_force_timing_cache", "accept a timing cache of another device", "never for measurements",
           "tactics that are wrong for this GPU"),
      flag("trt_force_sequential_engine_build", "build one engine after another", "several GPUs in one process",
           "builds take longer"),
      flag("trt_dump_ep_context_model", "write a model that refers to the built engine", "deployment without a build",
           "the engine fits this GPU and TensorRT release only"),
      text("trt_ep_context_file_path", "path of that model", "trt_dump_ep_context_model",
           "overwrites an existing file"),
      std::move(embed),
      since("1.19.0", flag("trt_weight_stripped_engine_enable", "engines without weights", "small engine files",
                           "needs trt_onnx_model_folder_path to refit")),
      since("1.19.0", text("trt_onnx_model_folder_path", "folder of the model that provides the weights",
                           "trt_weight_stripped_engine_enable",
                           "weights other than those the engine was built for: wrong results")),
      since("1.23.0", flag("trt_load_user_initializer", "hand initializers over in memory", "very large models",
                           "more host memory while it builds")),
      text("trt_extra_plugin_lib_paths", "plugin libraries to load", "models with custom TensorRT plugins",
           "runs their code in the worker"),
      flag("trt_engine_decryption_enable", "decrypt cached engines", "encrypted engine files",
           "needs trt_engine_decryption_lib_path"),
      text("trt_engine_decryption_lib_path", "library that decrypts", "trt_engine_decryption_enable",
           "runs its code in the worker"),
      flag("trt_detailed_build_log", "log every tactic that is tried", "inspecting a build", "large logs"),
      flag("trt_dump_subgraphs", "write each subgraph to a file", "inspecting a partitioning",
           "files as large as the model in the working folder"),
  };
}

}  // namespace

std::vector<ParamDef> tensorrt_provider_params() {
  auto rows = speed_params();
  append(rows, precision_params());
  append(rows, shape_and_cache_params());
  return rows;
}

}  // namespace ridgeline::schema
