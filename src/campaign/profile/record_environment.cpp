// SPDX-License-Identifier: Apache-2.0
#include "campaign/profile/record_environment.hpp"

#include <array>
#include <cstdlib>
#include <filesystem>

#include "execute/idle_recorder.hpp"

namespace ridgeline::campaign {
namespace {

constexpr const char* kTraceFolder = "RIDGELINE_TRACE_FOLDER";
constexpr const char* kCudaInjection = "CUDA_INJECTION64_PATH";
constexpr const char* kNvtxInjection = "NVTX_INJECTION64_PATH";

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

bool is_recorded() {
  std::error_code ignored;
  return std::filesystem::is_directory(variable(kTraceFolder), ignored);  // what outlives a recording has the variable
}

std::string hooked_python_path(const std::string& python_folder) {
  // Python runs the sitecustomize.py of the first folder that has one.
  auto path = (std::filesystem::path(python_folder) / "ridgeline_profile/site").string();
  if (const auto before = variable("PYTHONPATH"); !before.empty()) path += ":" + before;
  return path;
}

namespace {

/// How CUDA, NVTX and Python come to load the library and the hooks.
RecordEnvironment loading_environment(const std::string& library, const std::string& python_folder) {
  RecordEnvironment out;
  auto& variables = out.variables;
  variables = {{"RIDGELINE_TRACE_LIBRARY", library}};
  for (const auto* name : {kCudaInjection, kNvtxInjection})
    if (variable(name).empty()) variables.emplace_back(name, library);
  if (const auto set = variable(kCudaInjection); set != library) out.other_injection = set;
  if (const auto set = variable(kNvtxInjection); set != library) out.other_nvtx_injection = set;
  if (!python_folder.empty()) variables.emplace_back("PYTHONPATH", hooked_python_path(python_folder));
  return out;
}

}  // namespace

RecordEnvironment record_environment(const std::string& folder, const std::string& library,
                                     const std::string& python_folder, const std::string& options) {
  auto out = loading_environment(library, python_folder);
  out.variables.emplace_back(kTraceFolder, folder);
  out.variables.emplace_back("RIDGELINE_TRACE_OPTIONS", options + (python_folder.empty() ? ";hooks=0" : ""));
  return out;
}

RecordEnvironment idle_environment(const std::string& folder, const std::string& library,
                                   const std::string& python_folder) {
  auto out = loading_environment(library, python_folder);
  out.variables.emplace_back(execute::idle_variable(), folder);
  return out;
}

}  // namespace ridgeline::campaign
