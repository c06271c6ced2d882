// SPDX-License-Identifier: Apache-2.0
#include "search/searcher.hpp"

#include "base/text.hpp"
#include "schema/catalog.hpp"
#include "search/adaptive_searcher.hpp"
#include "search/gpu_quick_searcher.hpp"
#include "search/list_searcher.hpp"
#include "search/quick_searcher.hpp"
#include "search/recipe_searcher.hpp"

namespace ridgeline::search {

using base::ErrorCode;

base::Result<std::unique_ptr<Searcher>> make_searcher(const std::string& name, const SearchSpace& space,
                                                      const SearcherOptions& options) {
  if ((name == "adaptive" || name == "quick") && searches_torch(space))
    return std::make_unique<RecipeSearcher>(space, options, schema::torch_recipes(), name == "adaptive");
  if (name == "adaptive") return std::make_unique<AdaptiveSearcher>(space, options);
  if (name == "quick" && searches_gpu(space)) return std::make_unique<GpuQuickSearcher>(space, options);
  if (name == "quick") return std::make_unique<QuickSearcher>(space, options);
  if (name == "random") return ListSearcher::random(space, options);
  if (name == "grid") {
    // Rules may cut a large product down, so the bound on the product leaves them room.
    if (space.raw_size() > 20.0 * ListSearcher::kLargestGrid)
      return base::fail(ErrorCode::invalid_argument, "search grid: {:.3g} combinations are too many", space.raw_size())
          .hint("list fewer values in --space, or use --search adaptive");
    return ListSearcher::grid(space, options);
  }
  return base::fail(ErrorCode::invalid_argument, "unknown search \"{}\"; expected adaptive, grid, quick or random",
                    name)
      .hint("{}", base::did_you_mean(name, {"adaptive", "grid", "quick", "random"}));
}

}  // namespace ridgeline::search
