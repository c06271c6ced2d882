// SPDX-License-Identifier: Apache-2.0
#include "schema/environment.hpp"

namespace ridgeline::schema {

RL_DEFINE_JSON(GpuDescription, name, uuid, memory_bytes, driver_version, index, architecture, compute_capability,
               multiprocessors, memory_free_bytes, cuda_version, max_sm_clock_mhz, max_memory_clock_mhz, power_limit_w,
               default_power_limit_w, pci_bus_id, mig, ecc, persistence)
RL_DEFINE_JSON(Environment, cpu_model, logical_cpus, physical_cores, usable_cpus, affinity, cgroup_cpu_quota, smt,
               governor, isa, numa_nodes, memory_bytes, memory_available_bytes, os, kernel, hostname, load_average,
               gpus, gpu_note, ridgeline_version, core_siblings)

}  // namespace ridgeline::schema
