// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/un.h>

#include <string>

#include "base/error.hpp"

namespace ridgeline::watch {

/// Of a Unix socket. Errors: invalid_argument (an empty path, or one that is too long).
[[nodiscard]] base::Result<sockaddr_un> socket_address(const std::string& path);

}  // namespace ridgeline::watch
