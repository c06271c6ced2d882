// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/error.hpp"
#include "doctor/facts.hpp"
#include "doctor/gather/library_facts.hpp"

namespace ridgeline::doctor {

/// What `ridgeline profile -- COMMAND` would record with: the CUPTI of every Python that has torch for CUDA, found as
/// the recorder finds it; on a machine with a GPU and no such Python, the one of programs for the driver's CUDA.
/// `library`: the recorder's file, or why there is none.
[[nodiscard]] RecordingFacts read_recording_facts(const base::Result<std::string>& library, const DriverFacts& driver,
                                                  const std::vector<PythonFacts>& pythons, const LibraryOpener& open);

}  // namespace ridgeline::doctor
