// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/ort_search.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/file.hpp"
#include "base/text.hpp"
#include "schema/messages.hpp"
#include "workload/onnx/python_environments.hpp"
#include "workload/onnx/python_packages.hpp"

namespace ridgeline::workload {
namespace {

namespace fs = std::filesystem;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

/// Those of ld.so and of its configuration, in which each line that begins with a slash is a folder.
std::vector<fs::path> system_library_folders() {
  std::vector<fs::path> folders;
  std::error_code error;
  for (fs::directory_iterator at("/etc/ld.so.conf.d", error), end; !error && at != end; at.increment(error))
    for (const auto& line : base::split(base::read_file(at->path()).value_or(""), '\n'))
      if (line.rfind('/', 0) == 0) folders.emplace_back(std::string(base::trim(line)));
  for (const auto* folder : {"/usr/local/lib", "/lib64", "/usr/lib64", "/lib", "/usr/lib"})
    folders.emplace_back(folder);
  return folders;
}

/// The same file under two names, or a copy.
bool is_same_library(const std::string& a, const std::string& b) {
  std::error_code error;
  if (a == b || fs::equivalent(a, b, error)) return true;
  const auto size = fs::file_size(a, error);
  if (error || size != fs::file_size(b, error) || error) return false;
  const auto left = base::read_file(a);
  const auto right = base::read_file(b);
  return left && right && *left == *right;
}

/// "1.24.1" of libonnxruntime.so.1.24.1, which the plain name is a link to.
std::string version_in_name(const std::string& file) {
  std::error_code error;
  const auto target = fs::canonical(file, error);
  const auto name = (error ? fs::path(file) : target).filename().string();
  const auto at = name.find(".so.");
  return at == std::string::npos || name.find('.', at + 4) == std::string::npos ? "" : name.substr(at + 4);
}

/// The folders below a named one that may hold a library: archives have lib, wheels onnxruntime/capi.
std::vector<fs::path> folders_of_named(const fs::path& named) {
  std::vector<fs::path> folders{named, named / "lib", named / "capi", named / "onnxruntime/capi",
                                named / "runtimes/linux-x64/native"};
  for (const auto& packages : python_package_folders(named)) folders.push_back(packages / "onnxruntime/capi");
  return folders;
}

class Finder {
 public:
  Finder(const schema::RuntimeRequest& request, const OrtSearchEnvironment& environment)
      : request_(request), environment_(environment) {}

  schema::RuntimeSearch find() && {
    if (!request_.library.empty()) {
      add_named(schema::messages::place_flag({.value = request_.library}), request_.library,
                {.named = true, .pinned = true});
    } else {
      add_variable(false, environment_.ort_library);
      add_variable(true, environment_.ort_root);
      if (!request_.python.empty())
        add_python({schema::messages::place_python({schema::messages::PlacePythonWhere::given, request_.python}),
                    fs::path(request_.python).parent_path().parent_path()});
      for (const auto& python : python_environments(environment_)) add_python(python);
      add_own_copy();
      add_system();
    }
    for (const auto& named : request_.runtimes)
      add_named(schema::messages::place_flag({.runtime = true, .value = named}), named, {.named = true});
    for (auto& runtime : found_.runtimes) add_plugins(runtime.plugins, request_.plugins);
    return std::move(found_);
  }

 private:
  void note_place(schema::Message place, bool any = true) {
    found_.looked_in.push_back(any ? std::move(place) : schema::messages::place_empty(place));
  }

  static void add_plugins(std::vector<schema::PluginLibrary>& to, const std::vector<schema::PluginLibrary>& more) {
    for (const auto& plugin : more) {
      const auto same = [&](const auto& one) {
        return one.library_path == plugin.library_path && one.name == plugin.name;
      };
      if (std::none_of(to.begin(), to.end(), same)) to.push_back(plugin);
    }
  }

  void add(schema::FoundRuntime runtime) {
    const bool library = runtime.problem.empty();
    if (library) describe(runtime);
    for (auto& known : found_.runtimes) {
      if (library ? !is_same_library(known.library_path, runtime.library_path)
                  : known.library_path != runtime.library_path)
        continue;
      known.named |= runtime.named;
      add_plugins(known.plugins, runtime.plugins);
      return;
    }
    found_.runtimes.push_back(std::move(runtime));
  }

  /// What its file and its neighbours tell.
  void describe(schema::FoundRuntime& runtime) const {
    runtime.version = version_in_name(runtime.library_path);
    const fs::path folder = fs::path(runtime.library_path).parent_path();
    if (folder.filename() == "capi" && folder.parent_path().filename() == "onnxruntime") {
      const auto site = folder.parent_path().parent_path();
      const auto packages = python_packages(site);
      runtime.packages = onnxruntime_builds(packages);
      runtime.plugins = plugin_libraries(site, packages);
      return;
    }
    // A runtime of no environment works with the plug-ins of the active ones.
    for (const auto& python : python_environments(environment_))
      for (const auto& site : python_package_folders(python.prefix))
        add_plugins(runtime.plugins, plugin_libraries(site, python_packages(site)));
  }

  /// The best file of the folder; whether there is one.
  bool add_folder(const schema::Message& place, const fs::path& folder) {
    auto files = ort_files_in(folder);
    if (files.empty()) return false;
    schema::FoundRuntime runtime;
    runtime.library_path = std::move(files.front());
    runtime.place = place;
    add(std::move(runtime));
    return true;
  }

  void add_named(const schema::Message& place, const std::string& named, schema::FoundRuntime runtime) {
    note_place(place);
    std::error_code error;
    const fs::path path(named);
    runtime.place = place;
    if (!fs::is_directory(path, error)) {
      // A name without a slash would be looked for by the loader, anywhere but here.
      const bool here = named.find('/') == std::string::npos && fs::is_regular_file(path, error);
      runtime.library_path = here ? fs::absolute(path, error).string() : named;
      return add(std::move(runtime));
    }
    const auto folders = folders_of_named(path);
    for (const auto& folder : folders)
      if (auto files = ort_files_in(folder); runtime.library_path.empty() && !files.empty())
        runtime.library_path = std::move(files.front());
    if (runtime.library_path.empty()) {
      runtime.library_path = named;
      runtime.problem = schema::messages::no_runtime_in_folder(named);
      const auto module = std::find_if(folders.begin(), folders.end(), &has_module_only);
      if (module != folders.end()) add_module_problem(*module, runtime);
    }
    add(std::move(runtime));
  }

  /// Only the first variable that is set pins the runtime.
  void add_variable(bool root, const std::string& value) {
    const auto place = schema::messages::place_variable({.root = root, .value = value});
    if (value.empty()) return note_place(place);
    const bool first = found_.runtimes.empty();
    add_named(place, value, {.named = first, .pinned = first});
  }

  static bool has_module_only(const fs::path& capi) {
    std::error_code error;
    return fs::exists(capi / "_pybind_state.py", error) && ort_files_in(capi).empty();
  }

  /// PyPI's wheels carry the library from 1.19.2 on.
  static void add_module_problem(const fs::path& capi, schema::FoundRuntime& runtime) {
    runtime.library_path = capi.string();
    runtime.packages = onnxruntime_builds(python_packages(capi.parent_path().parent_path()));
    runtime.problem = schema::messages::only_python_module(
        {.folder = capi.string(), .package = runtime.packages.empty() ? "onnxruntime" : runtime.packages.front()});
  }

  void add_python(const PythonEnvironment& python) {
    bool any = false;
    for (const auto& site : python_package_folders(python.prefix)) {
      const auto capi = site / "onnxruntime/capi";
      any |= add_folder(python.label, capi);
      // Debian's own package leaves the library to the system's folders.
      if (!has_module_only(capi) || site.parent_path().filename() == "python3") continue;
      schema::FoundRuntime runtime;
      runtime.place = python.label;
      add_module_problem(capi, runtime);
      any = true;
      add(std::move(runtime));
    }
    std::error_code error;
    if (fs::exists(python.prefix / "conda-meta", error)) any |= add_folder(python.label, python.prefix / "lib");
    note_place(python.label, any);
  }

  void add_own_copy() {
    const auto folder = environment_.executable.parent_path();
    const auto beside = schema::messages::place_program(folder.string());
    bool any = add_folder(beside, folder);
    any |= add_folder(beside, folder.parent_path() / "lib");
    note_place(beside, any);
    const auto cache = environment_.cache / "onnxruntime";
    const auto in_cache = schema::messages::place_cache(cache.string());
    any = false;
    for (const auto& version : folders_in(cache, "")) any |= add_folder(in_cache, version / "lib");
    note_place(in_cache, any);
  }

  void add_system() {
    for (const auto& folder : base::split(environment_.ld_library_path, ':'))
      if (!folder.empty()) add_folder(schema::messages::place_library_path(folder), folder);
    for (const auto& folder : environment_.system_folders)
      add_folder(schema::messages::place_system(folder.string()), folder);
    note_place(schema::messages::place_system({}));
  }

  const schema::RuntimeRequest& request_;
  const OrtSearchEnvironment& environment_;
  schema::RuntimeSearch found_;
};

}  // namespace

OrtSearchEnvironment OrtSearchEnvironment::of_this_process() {
  return {.ort_library = variable("RIDGELINE_ORT_LIBRARY"),
          .ort_root = variable("ONNXRUNTIME_ROOT"),
          .virtual_env = variable("VIRTUAL_ENV"),
          .conda_prefix = variable("CONDA_PREFIX"),
          .path = variable("PATH"),
          .home = variable("HOME"),
          .ld_library_path = variable("LD_LIBRARY_PATH"),
          .cuda_home = variable("CUDA_HOME").empty() ? variable("CUDA_PATH") : variable("CUDA_HOME"),
          .cuda_parent = "/usr/local",
          .executable = base::executable_path(),
          .cache = base::cache_folder(),
          .system_folders = system_library_folders()};
}

std::vector<std::string> ort_files_in(const fs::path& folder) {
  constexpr std::string_view kName = "libonnxruntime.so";
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder, fs::directory_options::skip_permission_denied, error), end;
       !error && at != end; at.increment(error)) {
    auto name = at->path().filename().string();
    if (name == kName || name.rfind(std::string(kName) + ".", 0) == 0) names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end(), [&](const std::string& a, const std::string& b) {
    if ((a == kName) != (b == kName)) return a == kName;
    return version_numbers(a) > version_numbers(b);
  });
  for (auto& name : names) name = (folder / name).string();
  return names;
}

schema::RuntimeSearch find_runtimes(const schema::RuntimeRequest& request, const OrtSearchEnvironment& environment) {
  return Finder(request, environment).find();
}

}  // namespace ridgeline::workload
