// SPDX-License-Identifier: Apache-2.0
#include "schema/stream_progress.hpp"

namespace ridgeline::schema {

RL_DEFINE_JSON(StreamProgress, status, recent)

}  // namespace ridgeline::schema
