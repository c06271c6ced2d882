// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace ridgeline::inject {

/// Takes the calls of one image's NVTX (each library of a program has its own). `get_table`: its
/// NvtxGetExportTableFunc_t. Whether it is an NVTX that is understood.
[[nodiscard]] bool take_nvtx(void* get_table);

}  // namespace ridgeline::inject
