// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/ort_plugins.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "base/file.hpp"
#include "base/hash.hpp"
#include "schema/error_message.hpp"
#include "schema/execution_provider.hpp"
#include "schema/messages.hpp"
#include "workload/onnx/cuda_libraries.hpp"
#include "workload/onnx/file_memo.hpp"
#include "workload/onnx/ort_status.hpp"

namespace ridgeline::workload {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using base::Result;

constexpr int kFirstApiWithPlugins = 23;  // 1.22 has the functions, but finds no GPU on Linux

Result<std::vector<const OrtEpDevice*>> all_devices(const OrtApi& api, const OrtEnv* env) {
  const OrtEpDevice* const* devices = nullptr;
  std::size_t count = 0;
  RL_TRY(check_ort(api, api.GetEpDevices(env, &devices, &count)));
  return std::vector<const OrtEpDevice*>(devices, devices + count);  // the array lives until the next registration
}

std::string metadata(const OrtApi& api, const OrtKeyValuePairs* pairs, const char* key) {
  const char* value = pairs != nullptr ? api.GetKeyValue(pairs, key) : nullptr;
  return value != nullptr ? value : "";
}

std::string kind_of(OrtHardwareDeviceType type) {
  return type == OrtHardwareDeviceType_GPU ? "GPU" : type == OrtHardwareDeviceType_NPU ? "NPU" : "CPU";
}

Result<void> open_libraries(const fs::path& library, const OrtSearchEnvironment& search) {
  std::error_code error;
  if (!fs::exists(library, error))
    return base::fail(ErrorCode::not_found, "plug-in {}: there is no such file", library.string())
        .hint("give the library of an execution provider: --ep-library FILE");
  RL_TRY_ASSIGN(const auto libraries, prepare_provider_libraries(library, search));
  if (auto usable = libraries.usable(); !usable)
    return tl::unexpected<base::Error>(std::move(usable).error().in(fmt::format("plug-in {}", library.string())));
  // Never closed: its threads and static objects outlive a registration.
  if (::dlopen(library.c_str(), RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE) != nullptr) return {};
  const char* said = ::dlerror();
  return base::fail(ErrorCode::unavailable, "plug-in {} does not load: {}", library.string(),
                    said != nullptr ? said : "unknown reason")
      .hint("install the package that the missing file belongs to, or leave the plug-in out");
}

Result<std::vector<PluginDevice>> register_library(const OrtEnvironment& environment, const std::string& library,
                                                   const OrtSearchEnvironment& search) {
  const auto& api = environment.api();
  RL_TRY(open_libraries(library, search));
  RL_TRY_ASSIGN(const auto before, all_devices(api, environment.env()));
  // A name that ends in ".virtual" would ask for devices that are none.
  const auto name = library + " of ridgeline";
  if (auto done =
          check_ort(api, api.RegisterExecutionProviderLibrary(environment.env(), name.c_str(), library.c_str()));
      !done) {
    auto error = std::move(done).error();
    error.code = ErrorCode::unavailable;
    error.hint = "use a release of the plug-in and of ONNX Runtime that fit each other, or leave the plug-in out";
    return tl::unexpected<base::Error>(std::move(error).in(fmt::format("plug-in {}", library)));
  }
  // The runtime keeps one environment a process: this holds it, so that the registration lasts.
  OrtEnv* kept = nullptr;
  RL_TRY(check_ort(api, api.CreateEnv(ORT_LOGGING_LEVEL_ERROR, "ridgeline", &kept)));
  RL_TRY_ASSIGN(const auto after, all_devices(api, environment.env()));
  std::vector<PluginDevice> devices;
  for (const auto* device : after) {
    if (std::find(before.begin(), before.end(), device) != before.end()) continue;
    const auto* hardware = api.EpDevice_Device(device);
    if (metadata(api, api.HardwareDevice_Metadata(hardware), "is_virtual") == "1") continue;
    devices.push_back({device,
                       kept,
                       {.library_path = library,
                        .library_sha256 = {},
                        .ep_name = api.EpDevice_EpName(device),
                        .version = metadata(api, api.EpDevice_EpMetadata(device), "version"),
                        .device = kind_of(api.HardwareDevice_Type(hardware))}});
  }
  return devices;
}

/// What the runtime goes through to find GPUs for plug-ins.
bool lists_gpu(const host::SystemFiles& system) {
  std::error_code error;
  for (fs::directory_iterator card(system.root() / "sys/class/drm", error), end; !error && card != end;
       card.increment(error))
    if (card->path().filename().string().rfind("card", 0) == 0) return true;
  error.clear();
  for (fs::directory_iterator device(system.root() / "sys/bus/pci/devices", error), end; !error && device != end;
       device.increment(error)) {
    const auto kind = base::read_file(device->path() / "class").value_or("");
    if (kind.rfind("0x0300", 0) == 0 || kind.rfind("0x0302", 0) == 0) return true;
  }
  return false;
}

base::Fault no_device(const fs::path& library) {
  const auto note = no_device_note(library, host::SystemFiles());
  return base::fail(ErrorCode::unavailable, "{}", schema::own_text(note.message))
      .hint("{}", schema::own_text(note.hint));
}

/// A row for each provider and kind of device.
void add_offers(const std::vector<PluginDevice>& devices, const std::string& sha256, schema::PluginLibrary& library) {
  for (const auto& device : devices) {
    const auto& plugin = device.plugin;
    const bool known = std::any_of(library.offers.begin(), library.offers.end(), [&](const auto& offer) {
      return offer.ep_name == plugin.ep_name && offer.device == plugin.device;
    });
    if (known || (!library.name.empty() && library.name != plugin.ep_name)) continue;
    library.offers.push_back(plugin);
    library.offers.back().library_sha256 = sha256;
  }
}

Result<void> ask(const OrtEnvironment& environment, schema::PluginLibrary& library,
                 const OrtSearchEnvironment& search) {
  RL_TRY_ASSIGN(const auto devices, plugin_devices(environment, library.library_path, search));
  const FileMemo memo(search.cache.empty() ? fs::path() : search.cache / "libraries");
  RL_TRY_ASSIGN(const auto sha256,
                memo.get(library.library_path, "sha256", [&] { return base::sha256_file(library.library_path); }));
  add_offers(devices, sha256, library);
  if (!library.offers.empty()) return {};
  if (devices.empty()) return no_device(library.library_path);
  return base::fail(ErrorCode::unavailable, "{} has no provider {}, but {}", library.library_path, library.name,
                    devices.front().plugin.ep_name)
      .hint("leave the name out");
}

}  // namespace

Result<std::vector<PluginDevice>> plugin_devices(const OrtEnvironment& environment, const std::string& library,
                                                 const OrtSearchEnvironment& search) {
  static std::mutex mutex;
  static std::map<std::string, std::vector<PluginDevice>> registered;
  if (environment.library().api_version() < kFirstApiWithPlugins)
    return base::fail(ErrorCode::unsupported, "plug-in {}: needs ONNX Runtime 1.{} or later, {} is {}", library,
                      kFirstApiWithPlugins, environment.library().path().string(), environment.library().version())
        .hint("use a newer ONNX Runtime, or leave the plug-in out");
  const std::lock_guard lock(mutex);
  if (const auto known = registered.find(library); known != registered.end()) return known->second;
  RL_TRY_ASSIGN(auto devices, register_library(environment, library, search));
  return registered[library] = std::move(devices);
}

Result<PluginDevice> plugin_device(const OrtEnvironment& environment, const schema::ProviderPlugin& wanted,
                                   const OrtSearchEnvironment& search) {
  RL_TRY_ASSIGN(const auto devices, plugin_devices(environment, wanted.library_path, search));
  for (const auto& device : devices)
    if (device.plugin.ep_name == wanted.ep_name && (wanted.device.empty() || device.plugin.device == wanted.device))
      return device;
  return no_device(wanted.library_path);
}

void ask_plugins(const OrtEnvironment& environment, std::vector<schema::PluginLibrary>& plugins,
                 const OrtSearchEnvironment& search) {
  for (auto& library : plugins)
    if (const auto asked = ask(environment, library, search); !asked)
      library.note = schema::ProviderNote::of(asked.error());
}

schema::ProviderNote no_device_note(const fs::path& library, const host::SystemFiles& system) {
  const auto* row = schema::find_plugin_in(library.filename().string());
  schema::ProviderNote note;
  note.message = schema::messages::no_device_here({.library = library.string(),
                                                   .takes = row != nullptr ? row->plugin_devices : std::string(),
                                                   .no_gpu = (row == nullptr || !row->on_cpu()) && !lists_gpu(system)});
  note.hint = (row != nullptr ? *row : schema::plugin_provider({})).instead;
  return note;
}

}  // namespace ridgeline::workload
