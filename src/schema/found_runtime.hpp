// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/json.hpp"
#include "schema/message.hpp"
#include "schema/trial_spec.hpp"

namespace ridgeline::schema {

/// What the user says of where runtimes are.
struct RuntimeRequest {
  std::string library;                 ///< --ort-library: a file or a folder; "": not given
  std::vector<std::string> runtimes;   ///< --runtime: libraries, folders and virtual environments
  std::vector<PluginLibrary> plugins;  ///< --ep-library
  std::string python{};                ///< an interpreter whose packages are looked at before others; "": none
};
RL_DECLARE_JSON(RuntimeRequest)

/// A runtime on this machine as its files tell; nothing of it was loaded.
struct FoundRuntime {
  std::string library_path;            ///< a file, or a name for the loader
  Message place;                       ///< "RIDGELINE_ORT_LIBRARY=/x", "the cache (/y)"
  std::string version;                 ///< that the file's name has, or ""
  bool named = false;                  ///< by a flag or a variable, so that what is wrong with it is an error
  bool pinned = false;                 ///< named as the one to use
  std::vector<std::string> packages;   ///< of Python, that own its folder: "onnxruntime 1.24.1"
  std::vector<PluginLibrary> plugins;  ///< to be registered with it: those beside it, and those that the user named
  Message problem;                     ///< why it cannot be used, as far as files tell; empty: nothing is known

  /// "onnxruntime 1.24.1"
  [[nodiscard]] std::string name() const;
  /// "onnxruntime 1.24.1 at /x/libonnxruntime.so.1.24.1"
  [[nodiscard]] std::string title() const;
  /// Packages that overwrote each other's files, and the fix; empty: there are none.
  [[nodiscard]] Message conflict() const;
};
RL_DECLARE_JSON(FoundRuntime)

/// What a search for runtimes found, the one to be preferred first.
struct RuntimeSearch {
  std::vector<FoundRuntime> runtimes;
  std::vector<Message> looked_in;  ///< every place

  /// There is none, or none that can be used for these reasons.
  [[nodiscard]] base::Error none_usable(const std::vector<Message>& reasons) const;
};
RL_DECLARE_JSON(RuntimeSearch)

}  // namespace ridgeline::schema
