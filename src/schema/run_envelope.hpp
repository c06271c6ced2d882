// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "schema/message.hpp"

namespace ridgeline::schema {

/// What a run of any kind has, in its own type and as it is stored.
struct RunEnvelope {
  std::string id;  ///< "20261121-081500-3f2a": sortable, unique
  std::string command_line;
  std::string started_utc;
  std::string finished_utc;  ///< "" while running or when interrupted by force
  double duration_s = 0;
  bool interrupted = false;
  std::vector<Message> notes;
};

}  // namespace ridgeline::schema

/// The members of RunEnvelope, for RL_DEFINE_JSON of a kind's own.
#define RL_RUN_ENVELOPE id, command_line, started_utc, finished_utc, duration_s, interrupted, notes
