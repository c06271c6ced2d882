// SPDX-License-Identifier: Apache-2.0
// The readers of facts, on made-up files and the fake management library.
#include <filesystem>
#include <fstream>

#include "doctor/checks/checks.hpp"
#include "doctor/gather/driver_facts.hpp"
#include "doctor/gather/gpu_facts.hpp"
#include "doctor/gather/gpu_load.hpp"
#include "doctor/gather/library_facts.hpp"
#include "doctor/gather/machine_facts.hpp"
#include "doctor/gather/provider_runs.hpp"
#include "doctor/gather/python_facts.hpp"
#include "doctor/gather/recording_facts.hpp"
#include "fakes/fake_executor.hpp"
#include "fakes/fake_nvml.hpp"
#include "fakes/words.hpp"
#include "healthy_facts.hpp"
#include "schema/messages.hpp"

namespace ridgeline::doctor {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kNvml{RL_TEST_FAKE_NVML};

class Gather : public ::testing::Test {
 protected:
  void SetUp() override {
    auto pattern = (fs::temp_directory_path() / "doctor-test-XXXXXX").string();
    root = ::mkdtemp(pattern.data());
  }
  void TearDown() override { fs::remove_all(root); }
  void put(const std::string& path, const std::string& text) const {
    fs::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text;
  }

  fs::path root;
  fakes::FakeNvml nvml{RL_TEST_FAKE_NVML};
};

TEST_F(Gather, driver_facts_come_from_kernel_files_and_the_library) {
  put("sys/bus/pci/devices/0000:0f:00.0/vendor", "0x10de\n");
  put("sys/bus/pci/devices/0000:0f:00.0/class", "0x030200\n");
  put("sys/bus/pci/devices/0000:00:01.0/vendor", "0x8086\n");
  put("sys/module/nvidia/version", "580.65.06\n");
  put("proc/driver/nvidia/params", "ResmanDebugLevel: 4294967295\nRmProfilingAdminOnly: 1\n");
  put("proc/self/status", "CapEff:\t0000000000000000\n");
  put("dev/nvidia0", "");
  put("dev/nvidia-uvm", "");
  put(".dockerenv", "");
  const auto facts = read_driver_facts("1", root, kNvml);
  EXPECT_EQ(facts.pci_gpus, std::vector<std::string>{"0000:0f:00.0"});
  EXPECT_EQ(facts.kernel_module, "580.65.06");
  EXPECT_EQ(facts.counters_admin_only, true);
  EXPECT_FALSE(facts.privileged);
  EXPECT_TRUE(facts.container);
  EXPECT_EQ(facts.device_nodes.size(), 1U);
  EXPECT_EQ(facts.driver_version, "580.65.06");
  EXPECT_EQ(facts.gpus, 1U);
  EXPECT_EQ(facts.visible_gpus, 0U);
  EXPECT_EQ(facts.nvml_error, "");
}

TEST_F(Gather, entries_of_cuda_visible_devices_that_name_no_gpu_are_kept) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(read_driver_facts(std::nullopt, root, kNvml).absent_devices, Names{});
  EXPECT_EQ(read_driver_facts("0", root, kNvml).absent_devices, Names{});
  EXPECT_EQ(read_driver_facts("0,", root, kNvml).absent_devices, Names{});
  EXPECT_EQ(read_driver_facts("0, 9,GPU-none,0", root, kNvml).absent_devices, (Names{"9", "GPU-none"}));
  EXPECT_EQ(read_driver_facts("", root, kNvml).absent_devices, Names{});
}

TEST_F(Gather, capabilities_open_the_counters) {
  put("proc/self/status", "CapEff:\t0000004000000000\n");  // CAP_PERFMON
  EXPECT_TRUE(read_driver_facts(std::nullopt, root, kNvml).privileged);
}

TEST_F(Gather, the_fetch_script_is_that_of_the_source_folder_around_the_program) {
  EXPECT_EQ(find_fetch_script(root / "src/build/dev/bin/ridgeline"), "");
  put("src/scripts/fetch_onnxruntime.sh", "");
  EXPECT_EQ(find_fetch_script(root / "src/build/dev/bin/ridgeline"),
            (root / "src/scripts/fetch_onnxruntime.sh").string());
  EXPECT_EQ(find_fetch_script(root / "opt/bin/ridgeline"), "");
  EXPECT_EQ(find_fetch_script(""), "");
}

TEST_F(Gather, an_absent_and_a_damaged_library_differ) {
  const auto absent = read_driver_facts(std::nullopt, root, {"libridgeline-none.so.1"});
  EXPECT_FALSE(absent.nvml_broken_file);
  EXPECT_NE(absent.nvml_error, "");
  put("libnvidia-ml.so.1", "no library");
  const auto damaged = read_driver_facts(std::nullopt, root, {(root / "libnvidia-ml.so.1").string()});
  EXPECT_TRUE(damaged.nvml_broken_file);
  Facts facts;
  facts.driver = damaged;
  EXPECT_EQ(find_check(check_driver(facts), "driver.nvml").status, CheckStatus::fail);
}

TEST_F(Gather, a_library_that_does_not_start_keeps_its_words) {
  nvml.set(kFakeInitStatus, 9);
  const auto facts = read_driver_facts(std::nullopt, root, kNvml);
  EXPECT_NE(facts.nvml_error.find("Driver Not Loaded"), std::string::npos) << facts.nvml_error;
  EXPECT_NE(facts.nvml_path, "");
}

TEST_F(Gather, a_cut_down_library_is_told_by_its_missing_functions) {
  const auto facts = read_driver_facts(std::nullopt, root, {RL_TEST_FAKE_NVML_MISSING});
  EXPECT_NE(std::find(facts.missing_functions.begin(), facts.missing_functions.end(), "nvmlDeviceGetMemoryInfo"),
            facts.missing_functions.end());
  EXPECT_NE(std::find(facts.missing_functions.begin(), facts.missing_functions.end(), "nvmlDeviceGetRemappedRows"),
            facts.missing_functions.end());
}

TEST_F(Gather, gpu_facts_have_health_link_and_place) {
  put("sys/bus/pci/devices/0000:01:00.0/numa_node", "1\n");
  put("sys/bus/pci/devices/0000:01:00.0/local_cpulist", "8-9,12\n");
  put("proc/4711/comm", "python3\n");
  nvml.set(kFakeOtherPid, 4711);
  nvml.set(kFakeEccUncorrected, 2);
  nvml.set(kFakeRemapPending, 1);
  nvml.set(kFakeNvlinks, 4);
  nvml.set(kFakeNvlinksDown, 1);
  const auto gpus = read_gpu_facts(root, kNvml);
  ASSERT_EQ(gpus.size(), 1U);
  const auto& gpu = gpus.front();
  EXPECT_EQ(gpu.ecc.uncorrected_since_boot, 2U);
  EXPECT_EQ(gpu.ecc.corrected_since_boot, 0U);
  ASSERT_TRUE(gpu.remapped_rows.has_value());
  EXPECT_TRUE(gpu.remapped_rows->pending);
  EXPECT_FALSE(gpu.remapped_rows->failed);
  EXPECT_EQ(gpu.numa_node, 1);
  EXPECT_EQ(gpu.near_cpus, (std::vector<int>{8, 9, 12}));
  EXPECT_EQ(gpu.pcie.max_width, 16);
  ASSERT_TRUE(gpu.nvlinks.has_value());
  EXPECT_EQ(gpu.nvlinks->present - gpu.nvlinks->active, 1);
  ASSERT_TRUE(gpu.processes.has_value() && gpu.processes->size() == 1);
  EXPECT_EQ(gpu.processes->front().name, "python3");
}

TEST_F(Gather, mig_instances_are_counted) {
  nvml.set(kFakeMig, 2);
  EXPECT_EQ(read_gpu_facts(root, kNvml).front().mig_instances, 2);
}

TEST_F(Gather, a_gpu_that_refuses_every_question_is_listed_with_nothing_known) {
  nvml.set(kFakeUnsupported, 1);
  Facts facts;
  facts.gpus = read_gpu_facts(root, kNvml);
  ASSERT_EQ(facts.gpus.size(), 1U);
  facts.gpus.front().gpu.index = 0;
  for (const auto& check : check_gpus(facts))
    EXPECT_TRUE(check.status == CheckStatus::ok || check.status == CheckStatus::skipped)
        << check.id << ": " << text_of(check.evidence);
}

TEST_F(Gather, what_the_library_calls_unsupported_is_told_from_an_error) {
  const auto seen = [this] { return read_gpu_facts(root, kNvml).front(); };
  nvml.set(kFakeNvlinks, 4);
  EXPECT_FALSE(seen().without_ecc);
  EXPECT_FALSE(seen().without_nvlink);
  nvml.set(kFakeDeviceError, 999);
  EXPECT_FALSE(seen().without_ecc);
  EXPECT_FALSE(seen().without_nvlink);
  nvml.set(kFakeDeviceError, 0);
  nvml.set(kFakeUnsupported, 1);
  EXPECT_TRUE(seen().without_ecc);
  EXPECT_TRUE(seen().without_nvlink);
  nvml.set(kFakeUnsupported, 0);
  nvml.set(kFakeNvlinks, 0);
  EXPECT_TRUE(seen().without_nvlink) << "the first link's number is refused";
  const fakes::FakeNvml cut_down(RL_TEST_FAKE_NVML_MISSING);
  const auto bare = read_gpu_facts(root, {RL_TEST_FAKE_NVML_MISSING}).front();
  EXPECT_FALSE(bare.without_ecc);
  EXPECT_FALSE(bare.without_nvlink);
}

TEST_F(Gather, a_gpu_that_is_lost_later_is_found_out) {
  nvml.set(kFakeDeviceCount, 2);
  auto gpus = read_gpu_facts(root, kNvml);
  const auto note_losses = loss_check(gpus, kNvml);
  note_losses(gpus);
  EXPECT_EQ(gpus[0].error + gpus[1].error, "");
  nvml.set(kFakeDeviceError, 15);
  nvml.set(kFakeFailingDevice, 2);
  note_losses(gpus);
  EXPECT_EQ(gpus[0].error, "");
  EXPECT_TRUE(contains(gpus[1].error, "GPU is lost")) << gpus[1].error;
  EXPECT_TRUE(gpus[1].answered_before);
}

TEST_F(Gather, a_gpu_that_answers_with_errors_only_fails) {
  nvml.set(kFakeDeviceError, 999);
  Facts facts;
  facts.gpus = read_gpu_facts(root, kNvml);
  const auto check = find_check(check_gpus(facts), "gpu.list");
  EXPECT_EQ(check.status, CheckStatus::fail);
  EXPECT_TRUE(contains(text_of(check.evidence), "GPU 0 does not answer")) << text_of(check.evidence);
}

TEST_F(Gather, compute_modes_have_names) {
  nvml.set(kFakeComputeMode, 3);
  EXPECT_EQ(read_gpu_facts(root, kNvml).front().compute_mode, "exclusive_process");
  nvml.set(kFakeComputeMode, 77);
  EXPECT_EQ(read_gpu_facts(root, kNvml).front().compute_mode, std::nullopt);
}

TEST_F(Gather, machine_facts_measure_the_folders_and_limits_of_this_process) {
  const auto facts = read_machine_facts({}, {{messages::folder_results(), root / "not/yet/there"}}, root);
  ASSERT_EQ(facts.disks.size(), 1U);
  EXPECT_EQ(facts.disks.front().path, root.string());
  EXPECT_GT(facts.disks.front().free_bytes, 0);
  EXPECT_TRUE(facts.disks.front().writable);
  EXPECT_NE(facts.disks.front().file_system, "");
  EXPECT_TRUE(facts.open_files_soft.has_value());
  EXPECT_FALSE(facts.shm_bytes.has_value()) << "there is no dev/shm below this root";
}

TEST_F(Gather, python_packages_are_read_without_starting_python) {
  const std::string site = "venv/lib/python3.11/site-packages/";
  put(site + "onnxruntime_gpu-1.20.1.dist-info/METADATA", "");
  put(site + "onnxruntime/capi/libonnxruntime_providers_cuda.so", "");
  put(site + "torch-2.11.0+cu128.dist-info/METADATA", "");
  put(site + "torch/version.py", "__version__ = '2.11.0+cu128'\ndebug = False\ncuda: Optional[str] = '12.8'\n");
  put("other/lib/python3.12/site-packages/numpy-2.0.dist-info/METADATA", "");
  put("other/bin/python3", "");
  workload::OrtSearchEnvironment environment;
  environment.virtual_env = (root / "venv").string();
  environment.path = (root / "other/bin").string();
  const auto found = read_python_facts(environment);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_TRUE(found.back().packages.empty());
  EXPECT_TRUE(found.back().is_python3) << "what python3 starts is named, also without either package";
  EXPECT_FALSE(found.front().is_python3);
  EXPECT_EQ(found.front().packages.at("onnxruntime-gpu"), "1.20.1");
  EXPECT_EQ(found.front().torch_cuda, "12.8");
  EXPECT_EQ(found.front().ort_providers.front(), "CUDAExecutionProvider");
}

TEST_F(Gather, a_distributions_torch_is_seen_next_to_another_python3_on_the_path) {
  put("pyenv/shims/python3", "");
  put("pyenv/version", "3.11.7\n");
  put("pyenv/versions/3.11.7/bin/python3", "");
  put("usr/bin/python3", "");
  put("usr/lib/python3/dist-packages/torch-1.13.0a0+gitunknown.egg-info/PKG-INFO", "");
  put("usr/lib/python3/dist-packages/torch/version.py", "__version__ = '1.13.0a0'\ncuda = None\n");
  put("usr/lib/python3/dist-packages/onnxruntime-1.21.0-py3.13.egg-info", "");
  workload::OrtSearchEnvironment environment;
  environment.path = (root / "pyenv/shims").string() + ":" + (root / "usr/bin").string();
  auto found = read_python_facts(environment);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_TRUE(found.front().is_python3);
  EXPECT_TRUE(found.front().packages.empty());
  EXPECT_EQ(found.back().packages.at("torch"), "1.13.0a0+gitunknown");
  EXPECT_EQ(found.back().packages.at("onnxruntime"), "1.21.0");
  EXPECT_EQ(found.back().torch_cuda, "");
  EXPECT_EQ(found.back().executable, (root / "usr/bin/python3").string());
  // A virtual environment that was made with --system-site-packages sees it too, another does not.
  put("venv/bin/python3", "");
  put("venv/pyvenv.cfg", "home = " + (root / "usr/bin").string() + "\ninclude-system-site-packages = true\n");
  environment.virtual_env = (root / "venv").string();
  found = read_python_facts(environment);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found.front().packages.count("torch"), 1U);
  put("venv/pyvenv.cfg", "home = " + (root / "usr/bin").string() + "\ninclude-system-site-packages = false\n");
  EXPECT_EQ(read_python_facts(environment).size(), 2U);
}

TEST_F(Gather, every_build_of_onnxruntime_is_listed_with_its_provider) {
  const std::string site = "venv/lib/python3.11/site-packages/";
  put(site + "onnxruntime_openvino-1.24.1.dist-info/METADATA", "");
  put(site + "onnxruntime_extensions-0.14.0.dist-info/METADATA", "");
  put(site + "onnxruntime/capi/libonnxruntime_providers_openvino.so", "");
  workload::OrtSearchEnvironment environment;
  environment.virtual_env = (root / "venv").string();
  const auto found = read_python_facts(environment);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.front().packages.at("onnxruntime-openvino"), "1.24.1");
  EXPECT_EQ(found.front().packages.count("onnxruntime-extensions"), 1U);
  EXPECT_EQ(found.front().ort_providers.front(), "OpenVINOExecutionProvider");
}

TEST_F(Gather, libraries_are_found_in_their_places_and_opened_elsewhere) {
  put("cuda/extras/CUPTI/lib64/libcupti.so.13", "");
  workload::OrtSearchEnvironment environment;
  environment.cuda_home = (root / "cuda").string();
  std::vector<std::string> asked;
  const auto absent = [](const std::string& name) {
    return name + ": cannot open shared object file: No such file or directory";
  };
  const auto found = read_library_facts({}, environment, [&](const std::string& file) -> OpenedLibrary {
    asked.push_back(file);
    if (file.find('/') == std::string::npos) return {"", "", absent(file)};
    return {"", "", file + ": undefined symbol: cuGraphNew"};
  });
  ASSERT_EQ(found.size(), 6U);
  EXPECT_EQ(found[0].name, "TensorRT");
  EXPECT_EQ(found[0].path, "");
  EXPECT_EQ(found[1].path, (root / "cuda/extras/CUPTI/lib64/libcupti.so.13").string());
  EXPECT_NE(found[1].load_error.find("cuGraphNew"), std::string::npos);
  EXPECT_NE(std::find(asked.begin(), asked.end(), "libnvinfer.so.10"), asked.end());
}

TEST_F(Gather, the_cupti_of_a_torch_is_the_one_next_to_its_cuda_runtime) {
  const std::string site = "venv/lib/python3.12/site-packages/";
  put("venv/pyvenv.cfg", "");
  put("venv/bin/python3", "");
  put(site + "torch-2.9.0.dist-info/METADATA", "");
  put(site + "torch/version.py", "__version__ = '2.9.0'\ncuda = '12.8'\n");
  put(site + "nvidia/cuda_runtime/lib/libcudart.so.12", "");
  put(site + "nvidia/cuda_cupti/lib/libcupti.so.12", "");
  workload::OrtSearchEnvironment environment;
  environment.virtual_env = (root / "venv").string();
  const auto pythons = read_python_facts(environment);
  ASSERT_EQ(pythons.size(), 1U);
  EXPECT_EQ(pythons.front().cuda_runtime, (root / site / "nvidia/cuda_runtime/lib/libcudart.so.12").string());
  const auto found = read_recording_facts(
      std::string("/x/libridgeline_inject.so"), {}, pythons, [](const std::string& file) -> OpenedLibrary {
        if (file.find('/') == std::string::npos)
          return {"", "", file + ": cannot open shared object file: No such file or directory"};
        return {file, "12.8", ""};
      });
  EXPECT_EQ(found.library, "/x/libridgeline_inject.so");
  ASSERT_EQ(found.cupti.size(), 1U);
  EXPECT_EQ(found.cupti.front().cuda_major, 12);
  EXPECT_EQ(fs::canonical(found.cupti.front().path),
            fs::canonical(root / site / "nvidia/cuda_cupti/lib/libcupti.so.12"));
}

// LibTorch for CUDA brings CUPTI along, whose version a question to the opened library gave.
TEST_F(Gather, the_version_of_libtorch_is_that_of_the_torch_beside_it) {
  put("venv/lib/python3.12/site-packages/torch/lib/libtorch_cpu.so", "");
  put("venv/lib/python3.12/site-packages/torch/version.py", "__version__ = '2.11.0+cu130'\ncuda = '13.0'\n");
  put("venv/pyvenv.cfg", "");
  workload::OrtSearchEnvironment environment;
  environment.virtual_env = (root / "venv").string();
  const auto found = read_library_facts({}, environment, [](const std::string& file) -> OpenedLibrary {
    if (file.find('/') == std::string::npos)
      return {"", "", file + ": cannot open shared object file: No such file or directory"};
    return {file, "13.0", ""};
  });
  const auto torch = std::find_if(found.begin(), found.end(), [](const auto& one) { return one.name == "LibTorch"; });
  ASSERT_NE(torch, found.end());
  EXPECT_EQ(torch->version, "2.11.0+cu130");
}

TEST_F(Gather, of_cuda_the_release_of_the_provider_comes_first_and_any_other_after_it) {
  put("cuda/lib64/libcublas.so.13", "");
  put("cuda/lib64/libcublas.so.12", "");
  put("cuda/lib64/libcudart.so.13", "");
  put("cuda/lib64/libcudnn.so.9", "");
  workload::OrtSearchEnvironment environment;
  environment.cuda_home = (root / "cuda").string();
  RuntimeFacts runtime;
  runtime.cuda_major = 12;
  const auto found = read_library_facts(runtime, environment, [](const std::string& file) -> OpenedLibrary {
    if (file.find('/') == std::string::npos)
      return {"", "", file + ": cannot open shared object file: No such file or directory"};
    return {file, "1.2", ""};
  });
  const auto path = [&](const std::string& name) {
    const auto at = std::find_if(found.begin(), found.end(), [&](const auto& one) { return one.name == name; });
    return fs::path(at->path).filename().string();
  };
  EXPECT_EQ(path("cuBLAS"), "libcublas.so.12");
  EXPECT_EQ(path("CUDA runtime"), "libcudart.so.13");
  EXPECT_EQ(path("cuDNN"), "libcudnn.so.9");
  EXPECT_EQ(found[3].release, 12);
  EXPECT_EQ(found[5].release, 9);
}

TEST_F(Gather, a_process_that_dies_or_babbles_is_the_librarys_fault) {
  EXPECT_NE(opener_in_child({"/bin/sh", "-c", "kill -SEGV $$"})("liba.so").error.find("SIGSEGV"), std::string::npos);
  EXPECT_NE(opener_in_child({"/bin/sh", "-c", "echo hello; exit 3"})("liba.so").error.find("exit code 3"),
            std::string::npos);
  EXPECT_NE(opener_in_child({"/no/such/program"})("liba.so").error, "");
  const auto good = opener_in_child(
      {"/bin/sh", "-c", "echo 'ridgeline-library {\"path\":\"/x/liba.so\",\"version\":\"1.2\",\"error\":\"\"}'"})(
      "liba.so");
  EXPECT_EQ(good.path, "/x/liba.so");
  EXPECT_EQ(good.version, "1.2");
}

TEST_F(Gather, readings_under_load_keep_the_highest_and_every_reason) {
  LoadFacts facts;
  add_reading({1200, 300, 50, 0x4, 1, 16}, facts);
  add_reading({1980, 250, 61, 0x20, 5, 8}, facts);
  add_reading({}, facts);
  EXPECT_EQ(facts.sm_clock_mhz, 1980);
  EXPECT_EQ(facts.temperature_c, 61);
  EXPECT_EQ(facts.clock_reasons, 0x24U);
  EXPECT_EQ(facts.pcie_generation, 5);
  EXPECT_EQ(facts.pcie_width, 16);
}

TEST_F(Gather, the_load_is_the_executors_and_its_error_is_kept) {
  fakes::FakeExecutor executor;
  executor.ceilings->h2d_gb_per_s = 50;
  const auto loaded = watch_gpu_load(executor, "onnx", "", nvml_load_reader("GPU-fake-0", kNvml));
  EXPECT_TRUE(loaded.error.empty());
  EXPECT_EQ(loaded.reached.h2d_gb_per_s, 50);
  executor.ceilings.reset();
  EXPECT_FALSE(watch_gpu_load(executor, "onnx", "", [] { return LoadReading{}; }).error.empty());
}

TEST_F(Gather, a_reader_of_an_unknown_gpu_reads_nothing) {
  EXPECT_EQ(nvml_load_reader("GPU-none", kNvml)().sm_clock_mhz, std::nullopt);
  const auto reading = nvml_load_reader("GPU-fake-0", kNvml)();
  EXPECT_EQ(reading.sm_clock_mhz, 1980);
  EXPECT_EQ(reading.pcie_width, 16);
}

class Runs : public Gather {
 protected:
  /// One fake executor a call; the identity offers CUDA.
  std::vector<ProviderRun> run(const std::vector<GpuFacts>& gpus) {
    schema::RuntimeIdentity identity;
    identity.providers = {"CUDAExecutionProvider", "CPUExecutionProvider"};
    identity.provider_notes = notes;
    ProviderRuns runs(
        [this](const schema::GpuDescription* gpu) {
          (gpu != nullptr ? gpu_executors : cpu_executors) += 1;
          auto executor = std::make_unique<fakes::FakeExecutor>();
          if (gpu != nullptr) {
            executor->failure = [this](const auto&) { return gpu_failure; };
            executor->output_error = [this](const auto&) { return gpu_drift; };
          }
          return executor;
        },
        identity, root);
    schema::WorkloadRef model;
    model.kind = "onnx";
    return runs.run(model, gpus, 0.1);
  }

  std::map<std::string, schema::ProviderNote> notes;
  std::optional<schema::TrialStatus> gpu_failure;
  double gpu_drift = 0;
  int gpu_executors = 0;
  int cpu_executors = 0;
};

TEST_F(Runs, the_cpu_comes_first_and_cuda_on_every_gpu) {
  gpu_drift = 0.001;
  const auto runs = run({healthy_gpu(0), healthy_gpu(1)});
  ASSERT_EQ(runs.size(), 3U);
  EXPECT_EQ(runs[0].device, "CPU");
  EXPECT_NEAR(runs[0].median_ms, 1, 0.2);
  EXPECT_EQ(runs[2].device, "GPU 1");
  EXPECT_EQ(runs[2].output_error, 0.001);
  EXPECT_EQ(gpu_executors, 2);
}

TEST_F(Runs, a_failure_is_a_run_with_its_words) {
  gpu_failure = schema::TrialStatus::crashed;
  const auto runs = run({healthy_gpu()});
  EXPECT_EQ(runs.back().status, schema::TrialStatus::crashed);
  EXPECT_EQ(fakes::text_of(runs.back().failure), "made to fail");
}

TEST_F(Runs, the_newest_opset_is_found_by_trying) {
  std::int64_t newest = 23;
  ProviderRuns runs(
      [&](const schema::GpuDescription*) {
        auto executor = std::make_unique<fakes::FakeExecutor>();
        executor->failure = [&](const auto&) -> std::optional<schema::TrialStatus> {
          // The opset of the file that was just written: field 8 of the model, field 2 in it.
          std::ifstream file(root / "opset.onnx", std::ios::binary);
          const std::string bytes(std::istreambuf_iterator<char>(file), {});
          const auto at = bytes.find(std::string("\x42\x04\x0a\x00\x10", 5));
          const auto opset = at == std::string::npos ? 0 : static_cast<unsigned char>(bytes[at + 5]);
          return opset > newest ? std::optional(schema::TrialStatus::unsupported) : std::nullopt;
        };
        return executor;
      },
      {}, root);
  EXPECT_EQ(runs.supports_opset(17), true);
  EXPECT_EQ(runs.supports_opset(24), false);
  EXPECT_EQ(runs.newest_opset(40), 23);
  newest = 5;
  EXPECT_EQ(runs.newest_opset(40), std::nullopt);
}

TEST_F(Runs, a_provider_whose_libraries_do_not_load_is_not_started) {
  notes["cuda"].message = schema::messages::foreign("libcudnn.so.9 is not found");
  const auto runs = run({healthy_gpu()});
  EXPECT_FALSE(runs.back().not_run.empty());
  EXPECT_EQ(gpu_executors, 0);
}

}  // namespace
}  // namespace ridgeline::doctor
