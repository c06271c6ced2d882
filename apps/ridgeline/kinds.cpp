// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/kinds.hpp"

#include "campaign/bench_kind.hpp"
#include "campaign/sweep_kind.hpp"
#include "campaign/tune_kind.hpp"

namespace ridgeline::app {

run::Registry known_kinds() {
  run::Registry kinds;
  kinds.add(campaign::make_tune_kind());
  kinds.add(campaign::make_bench_kind());
  kinds.add(campaign::make_sweep_kind());
  return kinds;
}

}  // namespace ridgeline::app
