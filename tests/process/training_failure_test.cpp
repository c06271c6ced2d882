// SPDX-License-Identifier: Apache-2.0
// What goes wrong in the user's training, through the Python package and the process boundary: which of it is a
// shortage of memory? Exceptions of a GPU are raised by a pretended torch, all else happens.
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <unistd.h>

#include <gtest/gtest.h>

#include "execute/training_child.hpp"

namespace ridgeline::execute {
namespace {

using base::ErrorCode;
using schema::OomEvidence;

struct Kind {
  const char* name;
  const char* body;  ///< of a function that forward calls
  ErrorCode code;
  OomEvidence evidence = OomEvidence::none;
};

class TrainingFailure : public ::testing::TestWithParam<Kind> {
 protected:
  TrainingFailure()
      : folder_(std::filesystem::temp_directory_path() / fmt::format("rl-failure-{}-{}", ::getpid(), GetParam().name)) {
    std::filesystem::create_directories(folder_);
    std::ofstream(kills()) << 5;
    std::ofstream job(folder_ / "job.py");
    job << "import ctypes, mmap, os, resource, signal, subprocess, sys, time\nimport torch\n"
           "def killed_by_kernel():\n    open('" +
               kills() +
               "', 'w').write('6')\n"
               "def tried():\n    return 'CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity "
               "of 79 GiB'\n"
               "def fail():\n"
        << GetParam().body
        << "def bench(settings):\n    return dict(model=torch.Module(), optimizer=torch.Optimizer(),\n"
           "                forward=lambda model, batch: fail(), loader=lambda now: [torch.Tensor()])\n";
  }
  ~TrainingFailure() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string kills() const { return (folder_ / "kills").string(); }

  workload::StepError happen() {
    const std::string source = RL_SOURCE_DIR;
    JsonChildOptions options;
    options.command = {"python3", "-B", "-m", "ridgeline_train"};
    options.environment = {{"PYTHONPATH", source + "/python:" + source + "/tests/fakes/faketorch"}};
    options.kernel_kills = [file = kills()]() -> std::optional<std::int64_t> {
      std::int64_t count = 0;
      std::ifstream(file) >> count;
      return count;
    };
    TrainingChild child(options);
    schema::TrainingTrialSpec spec;
    spec.job.kind = "python";
    spec.job.target = (folder_ / "job.py").string() + ":bench";
    spec.device = "cuda:0";
    spec.plan.prepare_limit_s = 60;
    spec.plan.step_limit_s = std::string(GetParam().name) == "hang" ? 0.5 : 60;
    if (auto ready = child.prepare(spec); !ready) {
      ADD_FAILURE() << ready.error().error.message;
      return ready.error();
    }
    auto window = child.run(1);
    if (!window) return window.error();
    ADD_FAILURE() << "nothing went wrong";
    return {};
  }

  std::filesystem::path folder_;
};

TEST_P(TrainingFailure, is_classified_right) {
  const auto error = happen();
  EXPECT_EQ(base::enum_name(error.oom), base::enum_name(GetParam().evidence)) << error.error.message;
  EXPECT_EQ(error.error.code, GetParam().code) << error.error.message;
  EXPECT_FALSE(error.error.message.empty());
  EXPECT_EQ(error.error.message.find('\n'), std::string::npos);
}

constexpr auto kOom = ErrorCode::out_of_memory;

const Kind kShortages[] = {
    {"torch_type", "    raise torch.OutOfMemoryError(tried())\n", kOom, OomEvidence::type},
    {"torch_type_subclass", "    raise type('NoRoom', (torch.OutOfMemoryError,), {})('no room')\n", kOom,
     OomEvidence::type},
    {"torch_1_text", "    raise RuntimeError(tried())\n", kOom, OomEvidence::text},
    {"api_text", "    raise RuntimeError('CUDA error: out of memory\\nCUDA kernel errors might be reported later')\n",
     kOom, OomEvidence::text},
    {"driver_text", "    raise RuntimeError('CUDA driver error: out of memory')\n", kOom, OomEvidence::text},
    {"error_code", "    raise torch.AcceleratorError('CUDA error', 2)\n", kOom, OomEvidence::error_code},
    {"pinned_host_memory", "    raise torch.AcceleratorError('CUDA error: out of memory (cudaHostAlloc)', 2)\n", kOom,
     OomEvidence::error_code},
    {"cublas", "    raise RuntimeError('CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`')\n",
     kOom, OomEvidence::text},
    {"cudnn", "    raise RuntimeError('cuDNN error: CUDNN_STATUS_ALLOC_FAILED')\n", kOom, OomEvidence::text},
    {"cudnn_9", "    raise RuntimeError('cuDNN error: CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED')\n", kOom,
     OomEvidence::text},
    {"cudnn_beside_a_failed_allocation",
     "    torch.stats['num_ooms'] += 2\n    raise RuntimeError('cuDNN error: CUDNN_STATUS_NOT_SUPPORTED')\n", kOom,
     OomEvidence::allocator_counter},
    {"script",
     "    torch.stats['num_ooms'] += 1\n    raise RuntimeError('The following operation failed in the TorchScript "
     "interpreter.')\n",
     kOom, OomEvidence::allocator_counter},
    {"nccl_for_memory",
     "    raise RuntimeError(\"NCCL Error 1: unhandled cuda error. Cuda failure 2 'out of memory'\")\n", kOom,
     OomEvidence::text},
    {"raised_as_another_type",
     "    try: raise torch.OutOfMemoryError(tried())\n    except RuntimeError as error: raise ValueError('step "
     "failed') "
     "from error\n",
     kOom, OomEvidence::type},
    {"failed_while_handled",
     "    try: raise torch.AcceleratorError('CUDA error', 2)\n    except RuntimeError: torch.empyt_cache()\n", kOom,
     OomEvidence::error_code},
    {"captured_graph",
     "    try: raise torch.OutOfMemoryError(tried())\n"
     "    finally: raise torch.AcceleratorError('CUDA error: operation failed due to a previous error during capture', "
     "901)\n",
     kOom, OomEvidence::type},
    {"cpu_allocator",
     "    raise RuntimeError(\"[enforce fail at alloc_cpu.cpp:75] . DefaultCPUAllocator: can't allocate memory: you "
     "tried "
     "to allocate 80000000000 bytes\")\n",
     kOom, OomEvidence::text},
    {"python_memory", "    bytearray(1 << 60)\n", kOom, OomEvidence::type},
    {"array_memory", "    raise type('_ArrayMemoryError', (MemoryError,), {})('Unable to allocate 74.5 GiB')\n", kOom,
     OomEvidence::type},
    {"address_space",
     "    resource.setrlimit(resource.RLIMIT_AS, (1 << 29, resource.RLIM_INFINITY))\n    bytearray(1 << 30)\n", kOom,
     OomEvidence::type},
    {"mmap", "    mmap.mmap(-1, 1 << 46)\n", kOom, OomEvidence::error_code},
    {"shared_memory_map",
     "    raise RuntimeError('unable to mmap 4096 bytes from file </torch_12_7>: Cannot allocate memory (12)')\n", kOom,
     OomEvidence::text},
    {"uncaught_bad_alloc",
     "    os.write(2, b\"terminate called after throwing an instance of 'std::bad_alloc'\\n  what():  "
     "std::bad_alloc\\n\")\n"
     "    os.abort()\n",
     kOom, OomEvidence::type},
    {"uncaught_bad_array",
     "    os.write(2, b\"terminate called after throwing an instance of 'std::bad_array_new_length'\\n\")\n"
     "    os.abort()\n",
     kOom, OomEvidence::type},
    {"killed_by_the_kernel", "    killed_by_kernel()\n    os.kill(os.getpid(), signal.SIGKILL)\n", kOom,
     OomEvidence::exit_status},
    {"a_shells_137", "    killed_by_kernel()\n    os._exit(137)\n", kOom, OomEvidence::exit_status},
    {"worker_killed_by_the_kernel",
     "    killed_by_kernel()\n    raise RuntimeError('DataLoader worker (pid 4711) is killed by signal: Killed. ')\n",
     kOom, OomEvidence::exit_status},
    {"worker_gone_by_the_kernel",
     "    killed_by_kernel()\n    raise RuntimeError('DataLoader worker (pid(s) 4711) exited unexpectedly')\n", kOom,
     OomEvidence::exit_status},
};

const Kind kOthers[] = {
    {"text_of_a_value", "    raise ValueError('this would run out of memory: ' + tried())\n", ErrorCode::internal},
    {"text_of_a_key", "    {}['CUDA out of memory. Tried to allocate']\n", ErrorCode::internal},
    {"text_of_a_file", "    open('/nowhere/CUDA error: out of memory/MemoryError')\n", ErrorCode::internal},
    {"cuda_out_of_range", "    raise RuntimeError('CUDA device out of range: 7')\n", ErrorCode::internal},
    {"killed_by_hand", "    os.kill(os.getpid(), signal.SIGKILL)\n", ErrorCode::crashed},
    {"exit_137_by_hand", "    os._exit(137)\n", ErrorCode::crashed},
    {"segmentation_fault", "    os.kill(os.getpid(), signal.SIGSEGV)\n", ErrorCode::crashed},
    {"bus_error", "    os.kill(os.getpid(), signal.SIGBUS)\n", ErrorCode::crashed},
    {"abort", "    os.write(2, b\"terminate called after throwing an instance of 'c10::Error'\\n\")\n    os.abort()\n",
     ErrorCode::crashed},
    {"abort_long_after_a_shortage",
     "    os.write(2, b\"terminate called after throwing an instance of 'std::bad_alloc'\\n\")\n    os._exit(3)\n",
     ErrorCode::crashed},
    {"crash_beside_a_kernels_kill", "    killed_by_kernel()\n    os.kill(os.getpid(), signal.SIGSEGV)\n",
     ErrorCode::crashed},
    {"illegal_access",
     "    raise torch.AcceleratorError('CUDA error: an illegal memory access was encountered', 700)\n",
     ErrorCode::internal},
    {"device_assert", "    raise RuntimeError('CUDA error: device-side assert triggered')\n", ErrorCode::internal},
    {"device_assert_after_a_shortage",
     "    torch.stats['num_ooms'] += 1\n    try: raise torch.OutOfMemoryError(tried())\n"
     "    except RuntimeError: raise torch.AcceleratorError('CUDA error: device-side assert triggered', 710)\n",
     ErrorCode::internal},
    {"nccl", "    raise RuntimeError('NCCL error: unhandled system error (run with NCCL_DEBUG=INFO for details)')\n",
     ErrorCode::internal},
    {"not_supported", "    raise RuntimeError('cuDNN error: CUDNN_STATUS_NOT_SUPPORTED')\n", ErrorCode::internal},
    {"not_initialized", "    raise RuntimeError('CUDA error: CUBLAS_STATUS_NOT_INITIALIZED')\n", ErrorCode::internal},
    {"index", "    [][3]\n", ErrorCode::internal},
    {"handled_shortage",
     "    torch.stats['num_ooms'] += 1\n    try: raise torch.OutOfMemoryError(tried())\n    except RuntimeError: pass\n"
     "    raise ValueError('the loss is not finite')\n",
     ErrorCode::internal},
    {"handled_on_purpose",
     "    try: raise torch.OutOfMemoryError(tried())\n    except RuntimeError: raise ValueError('bad label') from "
     "None\n",
     ErrorCode::internal},
    {"disk_full", "    with open('/dev/full', 'w') as file: file.write('x')\n", ErrorCode::internal},
    {"too_many_files", "    raise OSError(24, 'Too many open files')\n", ErrorCode::internal},
    {"shared_memory_full",
     "    raise RuntimeError('DataLoader worker (pid 12) is killed by signal: Bus error. It is possible that "
     "dataloader\\'s workers are out of shared memory. Please try to raise your shared memory limit.')\n",
     ErrorCode::internal},
    {"worker_killed_by_hand", "    raise RuntimeError('DataLoader worker (pid 4711) is killed by signal: Killed. ')\n",
     ErrorCode::internal},
    {"hang", "    time.sleep(600)\n", ErrorCode::timeout},
};

std::string name_of(const ::testing::TestParamInfo<Kind>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Shortage, TrainingFailure, ::testing::ValuesIn(kShortages), name_of);
INSTANTIATE_TEST_SUITE_P(Other, TrainingFailure, ::testing::ValuesIn(kOthers), name_of);

}  // namespace
}  // namespace ridgeline::execute
