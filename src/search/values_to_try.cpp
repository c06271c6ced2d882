// SPDX-License-Identifier: Apache-2.0
#include "search/values_to_try.hpp"

#include <algorithm>
#include <set>

#include "search/cpu_budget.hpp"
#include "search/model_facts.hpp"
#include "search/relevance.hpp"

namespace ridgeline::search {
namespace {

using schema::Value;

std::set<int> powers_up_to(int limit) {
  std::set<int> powers;
  for (int power = 1; power <= limit; power *= 2) powers.insert(power);
  return powers;
}

std::set<int> thread_counts(const CpuBudget& cpu) {
  auto counts = powers_up_to(cpu.usable);
  for (const int count : {cpu.physical / 2, cpu.physical, cpu.logical, cpu.usable})
    if (count >= 1 && count <= cpu.usable) counts.insert(count);
  return counts;
}

std::set<int> session_counts(const CpuBudget& cpu) {
  auto counts = powers_up_to(cpu.usable);
  if (cpu.physical <= cpu.usable) counts.insert(cpu.physical);
  return counts;
}

/// Few operators run side by side, so the counts stay small.
std::set<int> inter_counts(const CpuBudget& cpu) { return powers_up_to(std::min(cpu.usable, 8)); }

/// What activations may fill: a quarter of the free memory; on a GPU, where an allocation that fails costs one trial
/// and nothing else suffers, half of what the weights leave. 0: unknown.
double activation_room(const SpaceInput& input) {
  if (!on_gpu(input)) return static_cast<double>(input.environment.memory_available_bytes) / 4;
  const auto& gpus = input.environment.gpus;
  if (gpus.empty() || gpus.front().memory_bytes <= 0) return 0;
  const auto memory = static_cast<double>(gpus.front().memory_free_bytes.value_or(gpus.front().memory_bytes));
  return std::max(1.0, (memory - static_cast<double>(input.model.parameter_bytes)) / 2);
}

/// Doubling while the activations of one inference have room.
std::set<int> batch_sizes(const SpaceInput& input) {
  const int largest = on_gpu(input) ? 64 : 32;
  if (is_code(input.model)) {
    // What a call needs is not known: one that has no room is a row that says so.
    const int rows = static_cast<int>(std::min<std::int64_t>(input.model.batch_axis_size.value_or(1), 1 << 14));
    std::set<int> sizes;
    for (int size = 2 * rows; size <= std::max(largest, 4 * rows); size *= 2) sizes.insert(size);
    return sizes;
  }
  const double activations = std::max(0.0, input.model.min_bytes - static_cast<double>(input.model.parameter_bytes));
  const double room = activation_room(input);
  std::set<int> sizes;
  for (int size = 2; size <= largest; size *= 2)
    if (room <= 0 || activations * size <= room) sizes.insert(size);
  return sizes;
}

std::vector<Value> as_values(const std::set<int>& numbers) {
  std::vector<Value> values;
  for (const int number : numbers) values.emplace_back(number);
  return values;
}

/// "2;3;4": one group a further thread; the runtime counts CPUs from 1 and leaves the calling thread alone.
std::string affinity_text(const std::vector<int>& cpus) {
  std::string text;
  for (std::size_t i = 1; i < cpus.size(); ++i) text += fmt::format("{}{}", i == 1 ? "" : ";", cpus[i] + 1);
  return text;
}

/// One thread on each core of the first NUMA node, and one on each of half the cores: pinnings that the runtime's own
/// (all physical cores) does not cover.
std::vector<Value> affinities(const SpaceInput& input, const CpuBudget& cpu) {
  std::vector<int> first_of_core;
  for (const auto& siblings : input.environment.core_siblings)
    if (!siblings.empty()) first_of_core.push_back(siblings.front());
  std::vector<Value> values;
  const auto add = [&](std::size_t threads) {
    if (threads < 2 || threads > first_of_core.size() || static_cast<int>(threads) > cpu.usable) return;
    const Value value(
        affinity_text({first_of_core.begin(), first_of_core.begin() + static_cast<std::ptrdiff_t>(threads)}));
    if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
  };
  const auto nodes = static_cast<std::size_t>(std::max(1, input.environment.numa_nodes));
  if (nodes > 1) add(first_of_core.size() / nodes);
  add(first_of_core.size() / 2);
  return values;
}

/// On a GPU the CPU only launches kernels.
std::vector<Value> gpu_candidates(const schema::ParamDef& param, const SpaceInput& input) {
  if (param.key == "intra_op_num_threads") return {1};
  if (param.key == "parallel_sessions" || param.key == "concurrent_runs") return {2, 4};
  if (param.key == "batch_size") return as_values(batch_sizes(input));
  // With the data on the GPU, unset means device, and host-side binding would add copies that nobody asked for.
  if (param.key == "io_binding" && data_on_device(input)) return {"stream"};
  if (param.key == "disable_specified_optimizers") return {"MatMulAddFusion"};
  return param.choices;
}

std::vector<Value> cpu_candidates(const schema::ParamDef& param, const SpaceInput& input) {
  const auto cpu = cpu_budget(input.environment);
  for (const auto* key : {"intra_op_num_threads", "openvino_threads", "openvino_num_of_threads", "torch_threads"})
    if (param.key == key) return as_values(thread_counts(cpu));
  if (param.key == "inter_op_num_threads") return as_values(inter_counts(cpu));
  if (param.key == "parallel_sessions" || param.key == "concurrent_runs") return as_values(session_counts(cpu));
  if (param.key == "batch_size") return as_values(batch_sizes(input));
  if (param.key == "intra_op_thread_affinities") return affinities(input, cpu);
  return param.choices;
}

}  // namespace

std::vector<Value> values_to_try(const schema::ParamDef& param, const SpaceInput& input) {
  auto values = on_gpu(input) ? gpu_candidates(param, input) : cpu_candidates(param, input);
  // "fp16" is for autocast to it and for weights in it.
  if (param.key == "torch_precision" && input.precision != "auto")
    std::erase_if(values, [&](const Value& value) { return !value.as_text().ends_with(input.precision); });
  std::erase_if(values, [&](const Value& value) { return is_default(param.key, value) || !check_value(param, value); });
  return values;
}

}  // namespace ridgeline::search
