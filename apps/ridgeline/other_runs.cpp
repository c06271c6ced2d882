// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/other_runs.hpp"

#include "store/bench_store.hpp"
#include "store/sweep_store.hpp"

namespace ridgeline::app {
namespace {

template <typename OtherStore>
bool knows(const Context& context, const std::string& run) {
  auto store = OtherStore::open(context.database_path(), {.access = store::Access::read});
  return store && store->load_run(run);
}

}  // namespace

base::Error name_other_command(base::Error error, const Context& context, const std::string& run) {
  if (error.code != base::ErrorCode::not_found) return error;
  const char* command = knows<store::SweepStore>(context, run)   ? "sweep"
                        : knows<store::BenchStore>(context, run) ? "bench"
                                                                 : nullptr;
  if (command == nullptr) return error;
  error.message = fmt::format("run {} is one of ridgeline {}: see ridgeline {} --show {} (with --output for a report)",
                              run, command, command, run);
  return error;
}

}  // namespace ridgeline::app
