// SPDX-License-Identifier: Apache-2.0
// The C interface (plugin_abi.h) of ridgeline_torch.so. No exception leaves this file.
#include <ATen/ATen.h>
#include <dlfcn.h>
#include <torch/version.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <new>
#include <string>

#include "errors.hpp"
#include "trial.hpp"

using ridgeline::torch_plugin::Refusal;
using ridgeline::torch_plugin::Trial;

struct rl_train_trial {
  rl_train_trial(const rl_train_request& request, const rl_train_source* source) : trial(request, source) {}
  Trial trial;
};

namespace {

constexpr int kCudaErrorMemoryAllocation = 2;

/// "__version__ = '2.11.0+cu130'" of the version.py that a pip package of torch has beside its libraries; "" elsewhere.
std::string installed_version() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&c10::GetExceptionString), &info) == 0 || info.dli_fname == nullptr)
    return "";
  const std::string library = info.dli_fname;
  std::ifstream file(library.substr(0, library.rfind('/') + 1) + "../version.py");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("__version__", 0) != 0) continue;
    const auto begin = line.find_first_of("'\"");
    const auto end = begin == std::string::npos ? begin : line.find(line[begin], begin + 1);
    if (end != std::string::npos) return line.substr(begin + 1, end - begin - 1);
  }
  return "";
}

const std::string& torch_version() {
  static const std::string version = [] {
    const auto installed = installed_version();
    return installed.empty() ? std::string(TORCH_VERSION) : installed;
  }();
  return version;
}

/// A torch that was upgraded under the plugin has other classes under the same names.
void check_version() {
  const auto& found = torch_version();
  const std::string built = TORCH_VERSION;
  const bool same = found.rfind(built, 0) == 0 && (found.size() == built.size() ||
                                                   std::isdigit(static_cast<unsigned char>(found[built.size()])) == 0);
  if (!same)
    ridgeline::torch_plugin::refuse(RL_TRAIN_UNAVAILABLE, "the torch plugin was built for torch " + built +
                                                              " and finds torch " + found +
                                                              "; build it again with scripts/build_torch_plugin.sh");
}

const std::string& models_json() {
  static const std::string json = [] {
    std::string out = "[";
    for (const auto& model : ridgeline::torch_plugin::built_in_models()) {
      out += (out.size() > 1 ? ", " : "") + std::string(R"({"name": ")") + model.name + R"(", "about": ")" +
             model.about + R"(", "options": {"input": ")" + model.input + R"(", "classes": ")" + model.classes + '"';
      for (const auto& [name, value] : model.options) out += ", \"" + name + "\": \"" + value + '"';
      out += "}}";
    }
    return out + "]";
  }();
  return json;
}

/// The first line, without what C++ puts around it.
void write_message(rl_train_error& error, const std::string& text) {
  auto line = text.substr(0, text.find('\n'));
  if (const auto frame = line.find(" (function "); frame != std::string::npos) line.resize(frame);
  const auto length = std::min(line.size(), sizeof error.message - 1);
  std::memcpy(error.message, line.data(), length);
  error.message[length] = '\0';
}

std::int32_t report(rl_train_error* error, rl_train_code code, rl_train_oom_evidence evidence,
                    const std::string& text) {
  if (error != nullptr && error->struct_size >= sizeof *error) {
    error->code = code;
    error->evidence = evidence;
    write_message(*error, text);
  }
  return code;
}

/// Calls `work` and makes of every exception an error. `ooms` reads the allocator's count of failed allocations, -1
/// where it is not known: where TorchScript or a library has lost the exception's type, the count tells.
template <typename Work, typename Count>
std::int32_t guarded(rl_train_error* error, const Work& work, const Count& ooms) noexcept {
  std::int64_t before = -1;
  try {
    before = ooms();
    work();
    return RL_TRAIN_OK;
  } catch (const Refusal& refusal) {
    return report(error, refusal.code(), RL_OOM_NONE, refusal.what());
  } catch (const c10::OutOfMemoryError& failure) {
    return report(error, RL_TRAIN_OUT_OF_MEMORY, RL_OOM_TYPE, failure.what_without_backtrace());
  } catch (const std::bad_alloc&) {
    return report(error, RL_TRAIN_OUT_OF_MEMORY, RL_OOM_TYPE, "the host's memory ran out (std::bad_alloc)");
  } catch (const std::exception& failure) {
    std::string text = failure.what();
    if (const auto* known = dynamic_cast<const c10::Error*>(&failure)) text = known->what_without_backtrace();
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 9)
    if (const auto* known = dynamic_cast<const c10::AcceleratorError*>(&failure)) {
      const bool memory = known->get_error_code() == kCudaErrorMemoryAllocation;
      return report(error, memory ? RL_TRAIN_OUT_OF_MEMORY : RL_TRAIN_FAILED, memory ? RL_OOM_ERROR_CODE : RL_OOM_NONE,
                    text);
    }
#endif
    std::int64_t after = -1;
    try {
      after = ooms();
    } catch (const std::exception&) {
      after = -1;  // a broken CUDA context cannot be asked
    }
    if (before >= 0 && after > before) return report(error, RL_TRAIN_OUT_OF_MEMORY, RL_OOM_ALLOCATOR_COUNTER, text);
    return report(error, RL_TRAIN_FAILED, RL_OOM_NONE, text);
  } catch (...) {
    return report(error, RL_TRAIN_FAILED, RL_OOM_NONE, "an exception of no known type");
  }
}

std::int64_t no_count() { return -1; }

std::int32_t cuda_devices() { return ridgeline::torch_plugin::cuda_device_count(); }

/// Page-locked memory comes as tensors, which are kept here until it goes back.
struct PinnedMemory {
  std::mutex mutex;
  std::map<void*, at::Tensor> blocks;
};

PinnedMemory& pinned_memory() {
  // Never destroyed: CUDA may be gone by then.
  static auto* memory = new PinnedMemory;
  return *memory;
}

void* alloc_pinned(std::size_t bytes) {
  if (cuda_devices() == 0) return nullptr;
  try {
    auto block =
        at::empty({static_cast<std::int64_t>(bytes)}, at::TensorOptions().dtype(at::kByte).pinned_memory(true));
    auto& memory = pinned_memory();
    const std::lock_guard lock(memory.mutex);
    void* const at = block.data_ptr();
    memory.blocks.emplace(at, std::move(block));
    return at;
  } catch (...) {
    return nullptr;
  }
}

void free_pinned(void* address) {
  auto& memory = pinned_memory();
  const std::lock_guard lock(memory.mutex);
  memory.blocks.erase(address);
}

std::int32_t create(const rl_train_request* request, const rl_train_source* source, rl_train_trial** out,
                    rl_train_error* error) {
  *out = nullptr;
  return guarded(
      error,
      [&] {
        if (request->struct_size < sizeof *request || (source != nullptr && source->struct_size < sizeof *source))
          ridgeline::torch_plugin::refuse("the request is shorter than this plugin's version of the interface");
        check_version();
        *out = new rl_train_trial(*request, source);
      },
      no_count);
}

std::int32_t run(rl_train_trial* trial, std::int64_t count, rl_train_step* steps, double* wall_ms,
                 rl_train_error* error) {
  return guarded(
      error, [&] { *wall_ms = trial->trial.run(count, steps); }, [&] { return trial->trial.num_ooms(); });
}

std::int32_t reset_peaks(rl_train_trial* trial, rl_train_error* error) {
  return guarded(
      error, [&] { trial->trial.reset_peaks(); }, no_count);
}

std::int32_t stats(rl_train_trial* trial, rl_train_stats* out, rl_train_error* error) {
  return guarded(
      error,
      [&] {
        auto known = trial->trial.stats();
        const auto room = std::min<std::size_t>(out->struct_size, sizeof known);
        known.struct_size = out->struct_size;
        std::memcpy(out, &known, room);
      },
      no_count);
}

void destroy(rl_train_trial* trial) {
  try {
    delete trial;
  } catch (...) {
    // Tensors of a broken CUDA context: the process ends soon, and takes them along.
    return;
  }
}

std::int32_t release_memory() {
  try {
    return ridgeline::torch_plugin::release_device_memory() ? 1 : 0;
  } catch (...) {
    return 0;  // a broken CUDA context: the process has to end
  }
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const rl_train_api* ridgeline_train_api(std::uint32_t abi_version) {
  if (abi_version != RL_TRAIN_ABI_VERSION) return nullptr;
  static const rl_train_api api{sizeof(rl_train_api),
                                RL_TRAIN_ABI_VERSION,
                                torch_version().c_str(),
                                models_json().c_str(),
                                cuda_devices,
                                alloc_pinned,
                                free_pinned,
                                create,
                                run,
                                reset_peaks,
                                stats,
                                destroy,
                                release_memory};
  return &api;
}
