// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace ridgeline::inject {

/// A kernel's name as source code has it; a name that is not mangled stays as it is.
[[nodiscard]] std::string plain_kernel_name(const char* mangled);
/// Whether the name, mangled or plain, is one of a kernel that may wait for another GPU: of NCCL, RCCL or NVSHMEM, or
/// with a collective's name.
[[nodiscard]] bool is_collective(std::string_view name);

}  // namespace ridgeline::inject
