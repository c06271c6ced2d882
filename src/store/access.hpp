// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace ridgeline::store {

/// What a results file is opened for. `read`: a file that the caller cannot write is good enough, none is created, and
/// an older one that cannot be migrated is refused. `peek`: the same, and an older file is left as it is and refused,
/// because bringing it up to date takes seconds.
enum class Access { write, read, peek };

}  // namespace ridgeline::store
