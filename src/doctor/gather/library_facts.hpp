// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "doctor/facts.hpp"
#include "workload/onnx/ort_search.hpp"

namespace ridgeline::doctor {

/// What became of an attempt to open a library.
struct OpenedLibrary {
  std::string path;  ///< as the loader found it; "" when it did not
  std::string version;
  std::string error;
  std::string fix;  ///< where it is known
};

/// Opens a file, or a bare name on the loader's path. Not in this process: what a vendor's library does when it is
/// loaded must not reach the caller.
using LibraryOpener = std::function<OpenedLibrary(const std::string& file)>;

/// Runs `command` with the file's name added, which is to end in open_library_main.
[[nodiscard]] LibraryOpener opener_in_child(std::vector<std::string> command);

/// The source folder's script in a folder above the program; "" for a copy installed elsewhere.
[[nodiscard]] std::string find_fetch_script(const std::filesystem::path& program);

/// The child's side: opens the file and prints the answer as one line of JSON. Returns the exit code.
[[nodiscard]] int open_library_main(const std::string& file);

/// CUPTI, TensorRT, LibTorch and what the CUDA provider needs: where they lie, and whether they load. Of the latter the
/// release that `runtime` asks for, another one only where that is not to be found.
[[nodiscard]] std::vector<LibraryFact> read_library_facts(const RuntimeFacts& runtime,
                                                          const workload::OrtSearchEnvironment& environment,
                                                          const LibraryOpener& open);

/// The video plug-in, and the FFmpeg that it finds.
[[nodiscard]] VideoFacts read_video_facts(const LibraryOpener& open);

}  // namespace ridgeline::doctor
