// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "schema/stream_moment.hpp"
#include "schema/stream_status.hpp"

namespace ridgeline::schema {

/// A running pipeline for those who watch it.
struct StreamProgress {
  StreamStatus status;  ///< since it was ready
  StreamMoment recent;  ///< the last whole second
};
RL_DECLARE_JSON(StreamProgress)

}  // namespace ridgeline::schema
