// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ridgeline/report_files.hpp"
#include "ridgeline/subcommand.hpp"
#include "schema/run_request.hpp"
#include "watch/baseline.hpp"

namespace ridgeline::app {

/// What the requests of all kinds have in common, from the flags of any of them.
template <typename Flags>
void read_common(const Flags& flags, const std::string& devices, const Context& context, schema::RunRequest& request) {
  request.arguments = context.arguments;
  if (!flags.write.file().empty()) request.config_path = watch::absolute_path(flags.write.file());
  for (const auto& file : flags.report.files()) request.outputs.push_back(file.path);
  request.devices = devices;
  request.use_store = !flags.fresh;
}

}  // namespace ridgeline::app
