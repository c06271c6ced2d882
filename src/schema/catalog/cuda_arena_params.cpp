// SPDX-License-Identifier: Apache-2.0
// The arena of GPU memory: the keys of ONNX Runtime's CreateArenaCfgV2 that are not provider options already (max_mem
// is gpu_mem_limit). Defaults as in ONNX Runtime's BFC arena. They move memory and the first inferences; none is swept
// by itself.
#include "schema/catalog.hpp"

namespace ridgeline::schema {
namespace {

constexpr double kMiB = 1024.0 * 1024;
constexpr double kLargestInt = 2147483647;
constexpr double kLargestSize = 4e12;

ParamDef arena_row(std::string key, ParamType type, Value default_value) {
  ParamDef row;
  row.target = key;
  row.key = std::move(key);
  row.scope = ParamScope::arena_option;
  row.type = type;
  row.providers = {"cuda"};
  row.default_value = std::move(default_value);
  row.searched = false;
  return row;
}

/// Blocks have at least a byte: ONNX Runtime doubles their size until a request fits.
ParamDef bytes(std::string key, double default_bytes, double smallest, double largest, std::string summary,
               std::string when, std::string hazard) {
  auto row = arena_row(std::move(key), ParamType::integer, static_cast<std::int64_t>(default_bytes));
  row.minimum = smallest;
  row.maximum = largest;
  row.unit = "bytes";
  row.summary = std::move(summary);
  row.when = std::move(when);
  row.hazard = std::move(hazard);
  return row;
}

ParamDef of_pool(ParamDef row) {
  row.since = "1.24.0";
  return row;
}

ParamDef use_cuda_mempool() {
  auto row = arena_row("use_cuda_mempool", ParamType::boolean, false);
  row.choices = {false, true};
  row.summary = "take GPU memory from a CUDA memory pool instead of ONNX Runtime's own arena";
  row.when = "a GPU shared with other processes, or varying input shapes: the driver can take unused memory back";
  row.hazard = "excludes CUDA graphs; the other arena settings, gpu_mem_limit_gb among them, then have no effect";
  return of_pool(row);
}

}  // namespace

std::vector<ParamDef> cuda_arena_params() {
  const std::string growing = "arena_extend_strategy=kNextPowerOfTwo, when GPU memory is short or shapes vary";
  return {
      bytes("initial_chunk_size_bytes", kMiB, 1, kLargestInt, "size of the first block that the arena allocates",
            growing, "larger than the model needs: nobody else can use the rest"),
      bytes("initial_growth_chunk_size_bytes", 2 * kMiB, 1, kLargestInt,
            "size of the second block; each later block is twice as large as the one before", growing,
            "small: more calls to cudaMalloc, each of which waits for the GPU"),
      bytes("max_power_of_two_extend_bytes", 1024 * kMiB, 1, kLargestSize,
            "maximum block size reached by doubling; larger requests get the size they ask for", growing,
            "small: more calls to cudaMalloc; large: the last block may be mostly unused"),
      bytes("max_dead_bytes_per_chunk", 128 * kMiB, 0, kLargestInt,
            "a free block is split for a smaller request if more than this would stay unused",
            "when GPU memory is short", "small: less waste, but more fragmentation"),
      use_cuda_mempool(),
      of_pool(bytes("cuda_mempool_release_threshold", 0, 0, kLargestSize,
                    "memory that the pool keeps when the GPU is synchronized; 0 = all unused memory is returned",
                    "only with use_cuda_mempool", "0: memory is allocated and returned with every inference")),
      of_pool(bytes("cuda_mempool_bytes_to_keep_on_shrink", 0, 0, kLargestSize,
                    "memory that the pool keeps when it is shrunk", "only with use_cuda_mempool",
                    "only matters after an arena is shrunk, which needs a run option")),
  };
}

}  // namespace ridgeline::schema
