// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "doctor/check.hpp"
#include "doctor/facts.hpp"
#include "doctor/messages.hpp"
#include "fakes/words.hpp"
#include "schema/messages.hpp"

namespace ridgeline::doctor {

using fakes::text_of;

/// One GPU with nothing wrong.
inline GpuFacts healthy_gpu(int index = 0) {
  GpuFacts facts;
  facts.gpu.name = "NVIDIA H200";
  facts.gpu.uuid = "GPU-" + std::to_string(index);
  facts.gpu.index = index;
  facts.gpu.architecture = "Hopper";
  facts.gpu.compute_capability = "9.0";
  facts.gpu.memory_bytes = 150'000'000'000;
  facts.gpu.memory_free_bytes = 149'500'000'000;
  facts.gpu.max_sm_clock_mhz = 1980;
  facts.gpu.power_limit_w = 700;
  facts.gpu.default_power_limit_w = 700;
  facts.gpu.mig = false;
  facts.gpu.ecc = true;
  facts.gpu.persistence = true;
  facts.temperature_c = 35;
  facts.clock_reasons = 1;  // idle
  facts.ecc = {0, 0, 0};
  facts.remapped_rows = gpu::RemappedRows{};
  facts.compute_mode = "default";
  facts.pcie.max_generation = 5;
  facts.pcie.max_width = 16;
  facts.nvlinks = gpu::NvlinkLinks{18, 18};
  facts.processes = std::vector<GpuProcess>{};
  facts.numa_node = 0;
  facts.near_cpus = {0, 1, 2, 3};
  auto& load = facts.load.emplace();
  load.sm_clock_mhz = 1980;
  load.pcie_generation = 5;
  load.pcie_width = 16;
  load.reached.h2d_gb_per_s = 55;
  return facts;
}

/// A machine with one GPU on which every check is ok or has nothing to judge.
inline Facts healthy_facts() {
  Facts facts;
  facts.driver.nvml_path = "/usr/lib/libnvidia-ml.so.1";
  facts.driver.driver_version = facts.driver.kernel_module = "580.65.06";
  facts.driver.cuda_version = "13.0";
  facts.driver.gpus = 1;
  facts.driver.visible_gpus = 1;
  facts.driver.pci_gpus = {"0000:0f:00.0"};
  facts.driver.counters_admin_only = false;
  facts.runtime.fetch_script = "/src/scripts/fetch_onnxruntime.sh";
  auto& identity = facts.runtime.identity.emplace();
  identity.version = "1.29.0";
  identity.library_path = "/ort/libonnxruntime.so";
  identity.providers = {"CUDAExecutionProvider", "CPUExecutionProvider"};
  identity.loaded_libraries = {"/cuda/libcudart.so.13 (13.0.96)", "/cuda/libcublas.so.13 (13.1.0)",
                               "/cuda/libcudnn.so.9 (9.19.0)"};
  facts.runtime.cuda_major = 13;
  facts.runtime.cuda_provider = "/ort/libonnxruntime_providers_cuda.so";
  facts.libraries = {{"TensorRT", "/trt/libnvinfer.so.10", "10.13.2", ""},
                     {"CUPTI", "/cuda/libcupti.so.13", "13.0", ""},
                     {"LibTorch", "/torch/lib/libtorch_cpu.so", "2.11.0", ""},
                     {"CUDA runtime", "/cuda/libcudart.so.13", "13.0", "", 13},
                     {"cuBLAS", "/cuda/libcublas.so.13", "13.1.0", "", 13},
                     {"cuDNN", "/cuda/libcudnn.so.9", "9.19.0", "", 9}};
  facts.video = {"/lib/ridgeline_video.so", "FFmpeg 5.1.9, GPL version 2 or later", "", ""};
  for (const auto* provider : {"cpu", "cuda"}) {
    ProviderRun run;
    run.provider = provider;
    run.device = provider == std::string("cpu") ? "CPU" : "GPU 0";
    run.median_ms = 0.2;
    facts.smoke.push_back(run);
  }
  facts.smoke.back().output_error = 1e-4;
  facts.gpus = {healthy_gpu()};
  auto& environment = facts.machine.environment;
  environment.cpu_model = "Xeon";
  environment.logical_cpus = 4;
  environment.usable_cpus = 4;
  environment.affinity = {0, 1, 2, 3};
  environment.governor = "performance";
  environment.memory_bytes = 64LL << 30;
  environment.memory_available_bytes = 60LL << 30;
  facts.machine.shm_bytes = 32LL << 30;
  facts.machine.open_files_soft = 65536;
  facts.machine.open_files_hard = 1048576;
  facts.machine.disks = {{messages::folder_current(), "/work", 100LL << 30, "ext4", "nvme0n1", false, true}};
  facts.pythons = {{schema::messages::place_python({schema::messages::PlacePythonWhere::venv, "/venv"}),
                    {{"onnxruntime-gpu", "1.29.0"}, {"torch", "2.11.0"}},
                    {"CUDAExecutionProvider"},
                    "13.0"}};
  facts.recording.library = "/ridgeline/lib/libridgeline_inject.so";
  facts.recording.cupti = {
      {facts.pythons.front().label, "/venv/bin/python3", 13, "/site/nvidia/cu13/lib/libcupti.so.13", "13.0", ""}};
  return facts;
}

/// The same without a GPU: what a small cloud machine looks like.
inline Facts cpu_facts() {
  auto facts = healthy_facts();
  facts.driver = {};
  facts.driver.nvml_error = "libnvidia-ml.so.1: cannot open shared object file: No such file or directory";
  facts.gpus.clear();
  facts.smoke.pop_back();
  facts.runtime.identity->providers = {"CPUExecutionProvider"};
  facts.runtime.identity->loaded_libraries.clear();
  facts.runtime.cuda_major.reset();
  facts.runtime.cuda_provider.clear();
  facts.pythons.clear();
  facts.recording.cupti.clear();
  facts.libraries = {{"TensorRT", "", "", ""}, {"CUPTI", "", "", ""}, {"LibTorch", "", "", ""}};
  return facts;
}

inline const Check& find_check(const std::vector<Check>& checks, const std::string& id) {
  const auto found = std::find_if(checks.begin(), checks.end(), [&](const Check& check) { return check.id == id; });
  if (found == checks.end()) throw std::out_of_range("no check " + id);
  return *found;
}

inline bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace ridgeline::doctor
