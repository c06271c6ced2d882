// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/cuda_libraries.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

#include "schema/error_message.hpp"
#include "schema/messages.hpp"
#include "workload/onnx/elf_file.hpp"
#include "workload/onnx/gpu_library_names.hpp"
#include "workload/onnx/python_environments.hpp"

namespace ridgeline::workload {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;

fs::path path_of(void* handle, const fs::path& otherwise) {
  link_map* map = nullptr;
  if (::dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map != nullptr && map->l_name[0] != '\0') return map->l_name;
  return otherwise;
}

base::Fault unusable(const schema::ProviderNote& note) {
  return base::fail(ErrorCode::unavailable, "{}", schema::own_text(note.reason()))
      .hint("{}", schema::own_text(note.hint));
}

/// Opens one provider's libraries, each after those that it needs itself.
class Opener {
 public:
  /// `opened_before`: by soname what this process has opened for other providers; added to.
  Opener(const fs::path& provider, const OrtSearchEnvironment& environment,
         std::map<std::string, OpenedLibrary>& opened_before)
      : places_(gpu_library_places(provider, environment)), environment_(environment), opened_before_(opened_before) {}

  ProviderLibraries run(const fs::path& provider, const std::vector<std::string>& needed) {
    const auto name = provider.filename().string();
    for (const auto& soname : needed)
      if (soname.rfind("libcudart", 0) == 0) cuda_major_ = major_version(soname);
    for (const auto& soname : needed)
      if (is_gpu_library(soname)) open(soname, name, true);
    if (std::none_of(needed.begin(), needed.end(), [](const auto& soname) { return is_gpu_library(soname); }))
      return std::move(result_);
    const auto* row = schema::find_provider_in(name);
    for (const auto& library :
         libraries_opened_at_run_time(row != nullptr ? *row : schema::provider_of({}), cuda_major_, needed))
      open(library.soname, name, library.required);
    return std::move(result_);
  }

 private:
  bool open(const std::string& soname, const std::string& needed_by, bool required) {
    if (!seen_.insert(soname).second)
      return std::none_of(result_.missing.begin(), result_.missing.end(),
                          [&soname](const MissingLibrary& missing) { return missing.soname == soname; });
    if (const auto known = opened_before_.find(soname); known != opened_before_.end()) {
      result_.opened.push_back(known->second);
      return true;
    }
    std::string reasons;
    if (open_file(soname, schema::messages::place_loader(), soname, reasons)) return true;
    if (!is_driver_library(soname))
      for (const auto& place : places_)
        for (const auto& folder : place.folders)
          if (open_at(file_in(folder, soname), place.label, soname, required, reasons)) return true;
    result_.missing.push_back(missing(soname, needed_by, reasons, required));
    return false;
  }

  /// A wheel may carry the file under its full version alone: "libtensorrt_rtx.so.1.7.1" for "libtensorrt_rtx.so.1".
  static fs::path file_in(const fs::path& folder, const std::string& soname) {
    std::error_code error;
    if (fs::exists(folder / soname, error)) return folder / soname;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
      if (at->path().filename().string().rfind(soname + ".", 0) == 0) return at->path();
    return folder / soname;
  }

  bool open_at(const fs::path& file, const schema::Message& where, const std::string& soname, bool required,
               std::string& reasons) {
    std::error_code error;
    if (!fs::exists(file, error)) return false;
    if (const auto dynamic = read_elf_dynamic(file))
      for (const auto& needed : dynamic->needed)
        if (is_gpu_library(needed)) open(needed, file.string(), required);
    return open_file(file.string(), where, soname, reasons);
  }

  bool open_file(const std::string& file, const schema::Message& where, const std::string& soname,
                 std::string& reasons) {
    // Kept open on purpose: the loader then answers the provider's own request for this soname with this file.
    void* handle = ::dlopen(file.c_str(), RTLD_LAZY | RTLD_GLOBAL);
    if (handle != nullptr) {
      result_.opened.push_back({soname, path_of(handle, file), where});
      opened_before_[soname] = result_.opened.back();
      return true;
    }
    const char* said = ::dlerror();
    const std::string reason = said != nullptr ? said : file + " does not load";
    const bool just_absent = reason.rfind(soname + ": cannot open shared object file", 0) == 0;
    if (!just_absent) reasons += (reasons.empty() ? "" : ", ") + reason;
    return false;
  }

  [[nodiscard]] MissingLibrary missing(const std::string& soname, const std::string& needed_by,
                                       const std::string& reasons, bool required) const {
    auto problem = schema::messages::library_missing({.library = soname, .user = needed_by, .why = reasons});
    if (is_driver_library(soname)) return {soname, std::move(problem), {}, schema::messages::fix_driver(), required};
    schema::messages::LoaderAndPlaces looked{.path = environment_.ld_library_path};
    for (const auto& place : places_)
      looked.places.push_back(place.folders.empty() ? schema::messages::place_absent(place.label) : place.label);
    return {soname, std::move(problem), schema::messages::loader_and_places(looked),
            schema::messages::fix_library_path(pip_install_of(soname, cuda_major_)), required};
  }

  std::vector<LibraryPlace> places_;
  const OrtSearchEnvironment& environment_;
  std::map<std::string, OpenedLibrary>& opened_before_;
  int cuda_major_ = 0;
  std::set<std::string> seen_;
  ProviderLibraries result_;
};

}  // namespace

std::optional<schema::ProviderNote> ProviderLibraries::problem() const {
  const MissingLibrary* first = nullptr;
  schema::ProviderNote note;
  for (const auto& library : missing) {
    if (!library.required) continue;
    note.missing.push_back(library.soname);
    // Without a driver nothing else helps, so that is the one to name.
    if (first == nullptr || is_driver_library(library.soname)) first = &library;
  }
  if (first == nullptr) return std::nullopt;
  const auto at = std::find(note.missing.begin(), note.missing.end(), first->soname);
  std::rotate(note.missing.begin(), at, at + 1);
  note.message = first->problem;
  note.looked_in = first->looked_in;
  note.hint = first->hint;
  return note;
}

base::Result<void> ProviderLibraries::usable() const {
  const auto note = problem();
  if (!note) return {};
  return unusable(*note);
}

std::vector<LibraryPlace> gpu_library_places(const fs::path& provider_file, const OrtSearchEnvironment& environment) {
  std::error_code error;
  const auto existing = [&error](std::vector<fs::path> folders) {
    folders.erase(std::remove_if(folders.begin(), folders.end(),
                                 [&error](const fs::path& folder) { return !fs::is_directory(folder, error); }),
                  folders.end());
    return folders;
  };
  const auto folder = provider_file.parent_path();
  std::vector<LibraryPlace> places{{schema::messages::place_provider(folder.string()), {folder}}};
  for (auto& python : python_environments(environment)) {
    LibraryPlace place{schema::messages::place_gpu_packages(python.label), {}};
    for (const auto& packages : python_package_folders(python.prefix)) {
      for (const auto& package : folders_in(packages / "nvidia", "")) place.folders.push_back(package / "lib");
      place.folders.push_back(packages / "tensorrt_libs");
    }
    if (python.prefix == environment.conda_prefix) place.folders.push_back(python.prefix / "lib");
    place.folders = existing(std::move(place.folders));
    places.push_back(std::move(place));
  }
  const auto toolkit = [](const fs::path& root) {
    return std::vector<fs::path>{root / "lib64", root / "targets/x86_64-linux/lib", root / "lib"};
  };
  if (!environment.cuda_home.empty())
    places.push_back({schema::messages::place_cuda({.home = true, .folder = environment.cuda_home}),
                      existing(toolkit(environment.cuda_home))});
  if (!environment.cuda_parent.empty()) {
    LibraryPlace system{schema::messages::place_cuda({.folder = (environment.cuda_parent / "cuda*").string()}), {}};
    for (const auto& root : folders_in(environment.cuda_parent, "cuda"))
      for (auto& lib : existing(toolkit(root))) system.folders.push_back(std::move(lib));
    places.push_back(std::move(system));
  }
  return places;
}

base::Result<ProviderLibraries> prepare_provider_libraries(const fs::path& provider_file,
                                                           const OrtSearchEnvironment& environment) {
  static std::mutex mutex;
  static std::map<fs::path, ProviderLibraries> prepared;
  static std::map<std::string, OpenedLibrary> opened;
  const std::lock_guard lock(mutex);
  if (const auto known = prepared.find(provider_file); known != prepared.end()) return known->second;
  const auto dynamic = read_elf_dynamic(provider_file);
  if (!dynamic)
    return base::fail(ErrorCode::unavailable, "{}", dynamic.error().message).hint("{}", dynamic.error().hint);
  return prepared[provider_file] = Opener(provider_file, environment, opened).run(provider_file, dynamic->needed);
}

std::optional<schema::ProviderNote> missing_provider_file(const fs::path& core,
                                                          const schema::ExecutionProvider& provider) {
  std::error_code error;
  for (const auto& name : {provider.file, std::string("libonnxruntime_providers_shared.so")}) {
    const auto file = fs::path(core).replace_filename(name);
    if (!fs::exists(file, error))
      return schema::ProviderNote{
          schema::messages::provider_file_missing(
              {.provider = provider.id, .file = file.string(), .library = core.filename().string()}),
          {},
          schema::messages::fix_gpu_build(),
          {provider.file}};
  }
  return std::nullopt;
}

base::Result<fs::path> provider_file(const fs::path& core, const schema::ExecutionProvider& provider) {
  if (const auto note = missing_provider_file(core, provider)) return unusable(*note);
  return fs::path(core).replace_filename(provider.file);
}

}  // namespace ridgeline::workload
