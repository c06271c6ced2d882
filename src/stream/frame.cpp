// SPDX-License-Identifier: Apache-2.0
#include "stream/frame.hpp"

namespace ridgeline::stream {

std::string_view to_string(DropReason reason) noexcept {
  switch (reason) {
    case DropReason::deadline: return "deadline";
    case DropReason::queue_full: return "queue_full";
    case DropReason::timeout: return "timeout";
    case DropReason::failed: return "failed";
    case DropReason::crashed: return "crashed";
    case DropReason::damaged: return "damaged";
    case DropReason::skipped: return "skipped";
    case DropReason::stopped: return "stopped";
  }
  return "unknown";
}

}  // namespace ridgeline::stream
