// SPDX-License-Identifier: Apache-2.0
#include "doctor/gather/recording_facts.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>

#include "doctor/load_error.hpp"
#include "host/cupti_places.hpp"

namespace ridgeline::doctor {
namespace {

namespace fs = std::filesystem;

constexpr int kNewestRecorded = 13;  // that the recorder knows

/// The first that opens. Of those that are there and do not open, the first stays in `found`, with its error.
void open_first(const std::vector<std::string>& places, const LibraryOpener& open, CuptiFacts& found) {
  std::error_code ignored;
  for (const auto& place : places) {
    const bool is_path = place.find('/') != std::string::npos;
    if (is_path && !fs::exists(place, ignored)) continue;
    const auto opened = open(place);
    if (!is_path && !opened.error.empty() && is_just_absent(opened.error, place)) continue;
    if (!opened.error.empty() && !found.path.empty()) continue;
    found.path = opened.path.empty() ? place : opened.path;
    found.version = opened.version;
    found.load_error = opened.error;
    if (opened.error.empty()) return;
  }
}

CuptiFacts cupti_for(const PythonFacts& python, const LibraryOpener& open) {
  CuptiFacts out;
  out.label = python.label;
  out.python = python.executable;
  out.cuda_major = std::atoi(python.torch_cuda.c_str());
  const auto loaded =
      python.cuda_runtime.empty() ? std::vector<std::string>() : std::vector<std::string>{python.cuda_runtime};
  open_first(host::cupti_places(loaded, out.cuda_major), open, out);
  return out;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

}  // namespace

RecordingFacts read_recording_facts(const base::Result<std::string>& library, const DriverFacts& driver,
                                    const std::vector<PythonFacts>& pythons, const LibraryOpener& open) {
  RecordingFacts out;
  if (library)
    out.library = *library;
  else
    out.library_error = library.error();
  for (const auto& python : pythons)
    if (!python.torch_cuda.empty()) out.cupti.push_back(cupti_for(python, open));
  if (out.cupti.empty() && driver.has_gpu()) {
    CuptiFacts any;
    any.cuda_major = std::min(kNewestRecorded, std::atoi(driver.cuda_version.c_str()));
    if (any.cuda_major > 0) {
      open_first(host::cupti_places({}, any.cuda_major), open, any);
      out.cupti.push_back(std::move(any));
    }
  }
  for (const auto* name : {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"})
    if (auto set = variable(name); !set.empty() && set != out.library)
      out.injections.emplace_back(name, std::move(set));
  return out;
}

}  // namespace ridgeline::doctor
