// SPDX-License-Identifier: Apache-2.0
#include "search/relevance.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "schema/catalog.hpp"

namespace ridgeline::search {
namespace {

using schema::Configuration;

bool is_parallel(const Configuration& configuration) {
  const auto* mode = configuration.find("execution_mode");
  return mode != nullptr && mode->as_text() == "parallel";
}

/// A session with one intra-op thread starts no worker thread. 0 and unset mean one a core.
bool has_workers(const Configuration& configuration) {
  const auto* threads = configuration.find("intra_op_num_threads");
  return threads == nullptr || threads->as_integer() != 1;
}

bool workers_spin(const Configuration& configuration) {
  const auto* spinning = configuration.find("intra_op_allow_spinning");
  return has_workers(configuration) && (spinning == nullptr || spinning->as_bool(true));
}

bool inter_threads_spin(const Configuration& configuration) {
  const auto* spinning = configuration.find("inter_op_allow_spinning");
  return is_parallel(configuration) && (spinning == nullptr || spinning->as_bool(true));
}

bool spins_for_some_time(const Configuration& configuration) {
  const auto* duration = configuration.find("intra_op_spin_duration_us");
  return workers_spin(configuration) && (duration == nullptr || duration->as_integer() != 0);
}

bool is_on(const Configuration& configuration, const std::string& key) {
  return configuration.get_or(key, false).as_bool();
}

/// A stream of the application's, or a CUDA graph, puts the whole provider on one stream.
bool leaves_streams_open(const Configuration& configuration) {
  return !is_on(configuration, "enable_cuda_graph") && configuration.get_or("io_binding", "none").as_text() != "stream";
}

bool has_own_arena(const Configuration& configuration) { return !is_on(configuration, "use_cuda_mempool"); }

bool arena_doubles(const Configuration& configuration) {
  return has_own_arena(configuration) &&
         configuration.get_or("arena_extend_strategy", "kNextPowerOfTwo").as_text() == "kNextPowerOfTwo";
}

struct Dependence {
  std::string_view key;
  bool (*matters)(const Configuration&);
};

bool is_compiled(const Configuration& c) { return c.get_or("torch_compile", "off").as_text() != "off"; }

constexpr std::array kDependences{
    Dependence{"inter_op_num_threads", is_parallel},
    Dependence{"inter_op_allow_spinning",
               [](const Configuration& c) {
                 const auto* threads = c.find("inter_op_num_threads");
                 return is_parallel(c) && (threads == nullptr || threads->as_integer() != 1);
               }},
    // The runtime plans memory only for sequential execution.
    Dependence{"enable_mem_pattern", [](const Configuration& c) { return !is_parallel(c); }},
    Dependence{"intra_op_allow_spinning", has_workers},
    Dependence{"intra_op_spin_duration_us", workers_spin},
    Dependence{"intra_op_spin_backoff_max", spins_for_some_time},
    Dependence{"force_spinning_stop",
               [](const Configuration& c) { return spins_for_some_time(c) || inter_threads_spin(c); }},
    Dependence{"dynamic_block_base", has_workers},
    Dependence{"intra_op_thread_affinities", has_workers},
    Dependence{
        "disable_specified_optimizers",
        [](const Configuration& c) { return c.get_or("graph_optimization_level", "all").as_text() != "disable_all"; }},
    Dependence{"compile_freezing", is_compiled},
    Dependence{"compile_dynamic", is_compiled},
    Dependence{"compile_fullgraph", is_compiled},
    Dependence{"gpu_graph_id", [](const Configuration& c) { return is_on(c, "enable_cuda_graph"); }},
    Dependence{"use_ep_level_unified_stream", leaves_streams_open},
    Dependence{"gpu_mem_limit_gb", has_own_arena},
    Dependence{"arena_extend_strategy", has_own_arena},
    Dependence{"max_dead_bytes_per_chunk", has_own_arena},
    Dependence{"initial_chunk_size_bytes", arena_doubles},
    Dependence{"initial_growth_chunk_size_bytes", arena_doubles},
    Dependence{"max_power_of_two_extend_bytes", arena_doubles},
    Dependence{"cuda_mempool_release_threshold", [](const Configuration& c) { return !has_own_arena(c); }},
    Dependence{"cuda_mempool_bytes_to_keep_on_shrink", [](const Configuration& c) { return !has_own_arena(c); }},
    Dependence{"tunable_op_tuning_enable", [](const Configuration& c) { return is_on(c, "tunable_op_enable"); }},
    Dependence{
        "tunable_op_max_tuning_duration_ms",
        [](const Configuration& c) { return is_on(c, "tunable_op_enable") && is_on(c, "tunable_op_tuning_enable"); }},
};

constexpr std::array<std::string_view, 14> kDeciders{"execution_mode",           "intra_op_num_threads",
                                                     "inter_op_num_threads",     "intra_op_allow_spinning",
                                                     "inter_op_allow_spinning",  "intra_op_spin_duration_us",
                                                     "enable_cuda_graph",        "io_binding",
                                                     "tunable_op_enable",        "tunable_op_tuning_enable",
                                                     "use_cuda_mempool",         "arena_extend_strategy",
                                                     "graph_optimization_level", "torch_compile"};

}  // namespace

bool is_relevant(const std::string& key, const Configuration& configuration) {
  const auto* found = std::find_if(kDependences.begin(), kDependences.end(),
                                   [&](const Dependence& dependence) { return dependence.key == key; });
  return found == kDependences.end() || found->matters(configuration);
}

bool replays_graph(const Configuration& configuration) {
  return is_on(configuration, "enable_cuda_graph") || is_on(configuration, "trt_cuda_graph_enable");
}

bool decides_relevance(const std::string& key) {
  return std::find(kDeciders.begin(), kDeciders.end(), key) != kDeciders.end();
}

bool is_default(const std::string& key, const schema::Value& value) {
  const auto* param = schema::find_param(key);
  return param != nullptr && param->default_value == value;
}

Configuration simplify(Configuration configuration) {
  // Dropping one setting may make another irrelevant, so repeat; every round drops at least one.
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& [key, value] : configuration.values()) {
      if (!is_default(key, value) && is_relevant(key, configuration)) continue;
      configuration.unset(std::string(key));
      changed = true;
      break;
    }
  }
  return configuration;
}

}  // namespace ridgeline::search
