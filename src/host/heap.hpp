// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace ridgeline::host {

/// Lets what this process allocates from now on, up to so many bytes and 512 MiB, find memory that the kernel has
/// already given: the first use of a page takes as long as a short operation. No more than a quarter of the free
/// memory.
void keep_heap(std::size_t bytes);

}  // namespace ridgeline::host
