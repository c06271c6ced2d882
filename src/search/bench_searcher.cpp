// SPDX-License-Identifier: Apache-2.0
#include "search/bench_searcher.hpp"

#include "base/text.hpp"
#include "search/bench_adaptive.hpp"
#include "search/bench_grid.hpp"

namespace ridgeline::search {

base::Result<std::unique_ptr<BenchSearcher>> make_bench_searcher(const std::string& name,
                                                                 const schema::TrainingSpace& space,
                                                                 const BenchSearchOptions& options) {
  if (space.size() == 0)
    return base::fail(base::ErrorCode::invalid_argument,
                      "nothing to search: batches, workers, precisions and pinning each need a value");
  if (name == "grid") return std::unique_ptr<BenchSearcher>(std::make_unique<BenchGrid>(space, options));
  if (name == "adaptive") return std::unique_ptr<BenchSearcher>(std::make_unique<BenchAdaptive>(space, options));
  return base::fail(base::ErrorCode::invalid_argument, "unknown search \"{}\"; expected adaptive or grid", name)
      .hint("{}", base::did_you_mean(name, {"adaptive", "grid"}));
}

}  // namespace ridgeline::search
