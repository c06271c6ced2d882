// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gpu/nvml_health.hpp"
#include "gpu/nvml_live.hpp"
#include "schema/environment.hpp"
#include "schema/found_runtime.hpp"
#include "schema/gpu_ceilings.hpp"
#include "schema/gpu_telemetry.hpp"
#include "schema/message.hpp"
#include "schema/model_description.hpp"
#include "schema/trial_outcome.hpp"
#include "schema/trial_spec.hpp"

// What is seen of the machine, before any judgement. "" and nullopt: could not be read.
namespace ridgeline::doctor {

struct DriverFacts {
  std::vector<std::string> pci_gpus;           ///< NVIDIA display controllers on the PCI bus: "0000:0f:00.0"
  std::string kernel_module;                   ///< version of the loaded kernel driver
  std::vector<std::string> device_nodes;       ///< /dev/nvidia0 ...
  std::vector<std::string> closed_nodes;       ///< those that this user may not open
  std::string nvml_path;                       ///< the management library that was opened; "" when none was
  std::string nvml_error;                      ///< why it was not opened or does not start
  std::int64_t nvml_status = 0;                ///< NVML's own, of that error; 0: it has none
  bool nvml_broken_file = false;               ///< a file of that name is there but does not load
  std::vector<std::string> missing_functions;  ///< of the management library, that Ridgeline would use
  std::string driver_version;
  std::string cuda_version;                    ///< newest that the driver serves: "13.0"
  std::optional<unsigned> gpus;                ///< as the management library counts them
  schema::Message inventory_note;              ///< GPUs that it counts but cannot open
  std::optional<std::string> visible_devices;  ///< CUDA_VISIBLE_DEVICES
  std::vector<std::string> absent_devices;     ///< its entries that name no GPU
  std::size_t visible_gpus = 0;                ///< left by it
  bool container = false;
  std::optional<bool> counters_admin_only;  ///< NVreg_RestrictProfilingToAdminUsers
  bool privileged = false;                  ///< root, CAP_SYS_ADMIN or CAP_PERFMON

  [[nodiscard]] bool has_gpu() const noexcept { return gpus.value_or(0) > 0; }
};

/// A runtime of this machine, asked in a process of its own.
struct FoundRuntimeFacts {
  schema::FoundRuntime found;
  std::optional<schema::RuntimeIdentity> identity;  ///< with what its plug-ins offer
  base::Error error;                                ///< why there is none
  bool taken = false;                               ///< by a `tune` without --provider
  bool telemetry = false;                           ///< reports usage unless ORT_DISABLE_TELEMETRY says otherwise
};

/// ONNX Runtime as a worker of `tune` loads it.
struct RuntimeFacts {
  std::optional<schema::RuntimeIdentity> identity;
  base::Error error;              ///< why there is none
  std::string cuda_provider;      ///< the CUDA provider's file; "" when there is none beside the core library
  std::optional<int> cuda_major;  ///< CUDA release that it was built for
  std::vector<FoundRuntimeFacts> found;
  bool telemetry_chosen = false;  ///< ORT_DISABLE_TELEMETRY is set
  std::string fetch_script;       ///< scripts/fetch_onnxruntime.sh where it is; "" for a copy installed elsewhere
};

/// A library that is looked for by name; opened in a process of its own.
struct LibraryFact {
  std::string name;  ///< "CUPTI"
  std::string path;  ///< "" when no file was found
  std::string version;
  std::string load_error;  ///< the loader's words, or how the process died
  int release = 0;         ///< that the CUDA provider asks for; 0: any
};

/// What reads videos and cameras for `stream`; opened in a process of its own.
struct VideoFacts {
  std::string path;     ///< of the plug-in; "" when there is none
  std::string version;  ///< "FFmpeg 5.1.9-0+deb12u1, GPL version 2 or later"
  std::string error;    ///< why it cannot be used; "": it can
  std::string fix;
};

/// A model run by one provider on one device in a worker.
struct ProviderRun {
  std::string provider;     ///< schema::ExecutionProvider::id
  std::string device;       ///< "CPU", "GPU 0"
  schema::Message not_run;  ///< why it was not tried; empty when it was
  schema::TrialStatus status = schema::TrialStatus::ok;
  schema::Message failure;    ///< empty when it ran
  std::optional<int> signal;  ///< that ended the worker
  double median_ms = 0;
  std::optional<double> output_error;     ///< from the CPU's answers: OutputError::scaled_max_abs
  std::optional<std::int64_t> gpu_bytes;  ///< peak memory of the worker on the GPU
};

/// What a GPU did while a worker kept it busy for about a second.
struct LoadFacts {
  schema::Message error;                ///< why there was no load; empty when there was
  std::optional<double> sm_clock_mhz;   ///< highest seen
  std::optional<double> power_w;        ///< highest seen
  std::optional<double> temperature_c;  ///< highest seen
  std::uint64_t clock_reasons = 0;      ///< every bit seen
  std::optional<int> pcie_generation;   ///< highest seen
  std::optional<int> pcie_width;
  schema::GpuCeilings reached;
};

struct GpuProcess {
  std::int64_t pid = 0;
  std::string name;  ///< "" when it lives in another container
  std::optional<std::int64_t> memory_bytes;
};

struct GpuFacts {
  schema::GpuDescription gpu;
  std::string error;             ///< why it answers nothing any more; "" when it does
  bool answered_before = false;  ///< with an error: when doctor began
  std::optional<double> temperature_c;
  std::optional<double> power_w;
  std::optional<std::uint64_t> clock_reasons;
  gpu::EccCounts ecc;
  std::optional<gpu::RemappedRows> remapped_rows;
  std::optional<int> mig_instances;         ///< of a GPU in MIG mode
  std::optional<std::string> compute_mode;  ///< "default", "exclusive_process", "prohibited"
  gpu::PcieLinkNow pcie;                    ///< while nothing runs
  std::optional<gpu::NvlinkLinks> nvlinks;  ///< nullopt: has none, or cannot be read
  bool without_ecc = false;                 ///< the management library says so, rather than failing to tell
  bool without_nvlink = false;              ///< likewise
  std::optional<std::vector<GpuProcess>> processes;
  std::optional<int> numa_node;
  std::vector<int> near_cpus;     ///< of the GPU's own node
  std::optional<LoadFacts> load;  ///< nullopt: not asked for
};

/// A folder that Ridgeline or training data would use.
struct DiskFacts {
  schema::Message purpose;  ///< a message doctor.folder_*
  std::string path;
  std::int64_t free_bytes = 0;
  std::string file_system;  ///< "ext4", "nfs", "overlay"
  std::string device;       ///< "nvme0n1"; "" when there is none or it is hidden
  std::optional<bool> rotational;
  bool writable = true;
};

struct MachineFacts {
  schema::Environment environment;
  std::optional<std::int64_t> shm_bytes;        ///< size of /dev/shm
  std::optional<std::int64_t> open_files_soft;  ///< -1: no limit
  std::optional<std::int64_t> open_files_hard;
  std::vector<DiskFacts> disks;
  bool container = false;
};

/// A Python installation or environment that has packages of interest, or is what `python3` starts.
struct PythonFacts {
  schema::Message label;                        ///< "Python environment VIRTUAL_ENV=/x"
  std::map<std::string, std::string> packages;  ///< "torch", "onnxruntime", "onnxruntime-gpu": version
  std::vector<std::string> ort_providers;       ///< that the installed onnxruntime has libraries for
  std::string torch_cuda;                       ///< "12.8"; "" for a CPU build
  std::string executable{};                     ///< starts it; "" for a mere folder of packages
  bool is_python3 = false;                      ///< what `python3` starts
  std::string cuda_runtime{};                   ///< the libcudart.so that torch loads; "" when it is not with it
};

/// The CUPTI that the recorder would take in a program.
struct CuptiFacts {
  schema::Message label;  ///< of the Python that runs the program; empty: any program
  std::string python;     ///< starts it; "" as in PythonFacts
  int cuda_major = 0;     ///< of the program
  std::string path;       ///< "" when none was found
  std::string version;
  std::string load_error;
};

/// What `ridgeline profile -- COMMAND` needs.
struct RecordingFacts {
  std::string library;        ///< the recorder's file; "": there is none
  base::Error library_error;  ///< why
  std::vector<CuptiFacts> cupti;
  std::vector<std::pair<std::string, std::string>> injections;  ///< variables set to libraries of other tools
};

/// `--model`: the user's own model.
struct ModelFacts {
  std::string path;
  base::Error error;  ///< why it cannot be read
  std::optional<schema::ModelDescription> model;
  std::optional<bool> opset_supported;       ///< a small model of the same opset loads
  std::optional<std::int64_t> newest_opset;  ///< that loads, looked for when that of the model does not
  std::vector<ProviderRun> runs;
};

struct Facts {
  DriverFacts driver;
  RuntimeFacts runtime;
  std::vector<LibraryFact> libraries;
  VideoFacts video;
  std::vector<ProviderRun> smoke;
  std::vector<GpuFacts> gpus;
  MachineFacts machine;
  std::vector<PythonFacts> pythons;
  RecordingFacts recording;
  std::optional<ModelFacts> model;
  bool passive = false;  ///< nothing was run on purpose
};

}  // namespace ridgeline::doctor
