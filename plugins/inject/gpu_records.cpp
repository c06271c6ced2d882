// SPDX-License-Identifier: Apache-2.0
#include "gpu_records.hpp"

namespace ridgeline::inject {

std::unique_ptr<GpuRecords> make_records(int cuda_major, trace::EventLog& log, std::int64_t process,
                                         CaptureListener& listener) {
  switch (cuda_major) {
    case 12: return cupti12::make_records(log, process, listener);
    case 13: return cupti13::make_records(log, process, listener);
    default: return nullptr;
  }
}

}  // namespace ridgeline::inject
