// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/random.hpp"
#include "search/gpu_rules.hpp"
#include "search/relevance.hpp"
#include "search/searcher.hpp"

namespace ridgeline::fakes {

/// A whole grid of configurations with their costs, so that searchers can be judged without measuring anything. The
/// file:
///   {"name": "...", "origin": "recorded" | "published" | "generated", "source": "...", "noise": 0.01,
///    "dimensions": [{"key": "intra_op_num_threads", "values": [1, 2, 4]}, ...],
///    "rows": [[0, 2, ..., 1234567], [1, 0, ..., "out_of_memory"], ...]}
/// A row holds one number a dimension (0: unset, i: the i-th value), then the cost in nanoseconds, or how it failed,
/// and where they were recorded the seconds that the trial took and those before anything could be timed. Combinations
/// without a row, and those that today's rules and pruning for a GPU leave out, are outside the space. noise: relative
/// standard error of one measurement. session_spread (recorded ones): relative standard deviation from session to
/// session of one configuration; the best of hundreds of single sessions is a lucky one, by about twice that.
class Landscape {
 public:
  explicit Landscape(const std::filesystem::path& path) {
    std::ifstream file(path);
    const auto json = base::Json::parse(file);
    json.at("name").get_to(name_);
    json.at("origin").get_to(origin_);
    noise_ = json.value("noise", 0.0);
    session_spread_ = json.value("session_spread", 0.0);
    const auto dimensions = json.at("dimensions").get<std::vector<schema::Dimension>>();
    const bool on_gpu = std::any_of(dimensions.begin(), dimensions.end(),
                                    [](const auto& dimension) { return dimension.key == "enable_cuda_graph"; });
    const auto configuration_of = [&](const base::Json& row) {
      schema::Configuration configuration;
      for (std::size_t at = 0; at < dimensions.size(); ++at)
        if (const auto level = row.at(at).get<std::size_t>(); level > 0)
          configuration.set(dimensions[at].key, dimensions[at].values.at(level - 1));
      return configuration;
    };
    // Grids of other tools replay graphs without a stream of their own: they asked for what they have.
    search::SpaceInput searched{"cuda"};
    const auto& rows = json.at("rows");
    const bool streams = std::any_of(rows.begin(), rows.end(), [&](const auto& row) {
      const auto configuration = configuration_of(row);
      return search::replays_graph(configuration) &&
             configuration.get_or("io_binding", "none") == schema::Value("stream");
    });
    for (const auto& dimension : dimensions)
      if (!streams && dimension.key == "io_binding") searched.request.values = {dimension};
    const auto rules = search::gpu_rules(searched);
    for (const auto& row : rows) {
      const auto configuration = configuration_of(row);
      const auto& cost = row.at(dimensions.size());
      const auto form = search::simplify(configuration);
      recorded_->emplace(form, cost.is_number() ? std::optional<double>(cost.get<double>()) : std::nullopt);
      if (!std::all_of(rules.begin(), rules.end(), [&](const auto& rule) { return rule.allows(form); })) continue;
      if (on_gpu && form.get_or("graph_optimization_level", "all") == schema::Value("extended")) continue;
      costs_->emplace(form, cost.is_number() ? std::optional<double>(cost.get<double>()) : std::nullopt);
      if (row.size() > dimensions.size() + 2)
        times_->emplace(
            form, Times{row.at(dimensions.size() + 1).get<double>(), row.at(dimensions.size() + 2).get<double>()});
    }
    const search::SpaceRule recorded{"measured in the landscape",
                                     [costs = costs_](const schema::Configuration& c) { return costs->count(c) != 0; }};
    space_ = search::SearchSpace(dimensions, {}, {recorded});
    dimensions_ = dimensions;
    on_gpu_ = on_gpu;
    for (const auto& [configuration, cost] : *recorded_)
      if (cost) best_recorded_ = std::min(best_recorded_, *cost);
    for (const auto& [configuration, cost] : *costs_)
      if (cost) best_ = std::min(best_, *cost);
  }

  /// Every *.json of a folder, by name.
  static std::vector<Landscape> load_all(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      if (entry.path().extension() == ".json") paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    return {paths.begin(), paths.end()};
  }

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& origin() const { return origin_; }
  [[nodiscard]] const search::SearchSpace& space() const { return space_; }
  [[nodiscard]] double noise() const { return noise_; }
  /// By how much, as a share, the best row may be better than its configuration is.
  [[nodiscard]] double luck() const { return 2 * session_spread_; }
  [[nodiscard]] std::size_t size() const { return costs_->size(); }
  [[nodiscard]] double best_cost() const { return best_; }
  [[nodiscard]] std::optional<double> cost(const schema::Configuration& configuration) const {
    const auto at = costs_->find(search::simplify(configuration));
    return at == costs_->end() ? std::nullopt : at->second;
  }

  /// As the file has it, with the rows that today's rules leave out. nullptr: no such row; nullopt: it failed.
  [[nodiscard]] const std::optional<double>* recorded(const schema::Configuration& configuration) const {
    const auto at = recorded_->find(search::simplify(configuration));
    return at == recorded_->end() ? nullptr : &at->second;
  }
  [[nodiscard]] double best_recorded() const { return best_recorded_; }
  [[nodiscard]] const std::vector<schema::Dimension>& dimensions() const { return dimensions_; }
  [[nodiscard]] bool on_gpu() const { return on_gpu_; }
  /// Before anything could be timed; 0.1 s where that was not recorded.
  [[nodiscard]] double setup_seconds(const schema::Configuration& configuration) const {
    const auto known = times_->find(search::simplify(configuration));
    return known == times_->end() || known->second.setup <= 0 ? 0.1 : known->second.setup;
  }

  /// Seconds that a measurement of the configuration took, where it was recorded; else a session, a warm-up and ten
  /// inferences, at least 0.2 s timed. A failure costs the session.
  [[nodiscard]] double trial_seconds(const schema::Configuration& configuration) const {
    if (const auto known = times_->find(search::simplify(configuration)); known != times_->end())
      return known->second.trial;
    constexpr double kSession = 0.1;
    const auto one = cost(configuration);
    return one ? kSession + 4 * *one * 1e-9 + std::max(0.2, 10 * *one * 1e-9) : kSession;
  }
  [[nodiscard]] double exhaustive_seconds() const {
    double total = 0;
    for (const auto& [configuration, cost] : *costs_) total += trial_seconds(configuration);
    return total;
  }

  /// What a trial would observe, with `noise` as relative standard error of the cost.
  [[nodiscard]] search::Observation observe(const search::Proposal& proposal, double noise,
                                            base::Random& random) const {
    search::Observation seen;
    const auto exact = cost(proposal.configuration);
    if (!exact) return seen;
    seen.cost = *exact * std::exp(noise * random.normal());
    seen.cost_low = *seen.cost * (1 - 2 * noise);
    seen.cost_high = *seen.cost * (1 + 2 * noise);
    if (const auto known = times_->find(search::simplify(proposal.configuration)); known != times_->end())
      seen.setup_s = known->second.setup;
    seen.stopped_early = proposal.stop_above && seen.cost_low > *proposal.stop_above;
    return seen;
  }

 private:
  struct Times {
    double trial = 0;
    double setup = 0;
  };

  std::string name_;
  std::string origin_;
  double noise_ = 0;
  double session_spread_ = 0;
  std::shared_ptr<std::map<schema::Configuration, std::optional<double>>> costs_ =
      std::make_shared<std::map<schema::Configuration, std::optional<double>>>();
  std::shared_ptr<std::map<schema::Configuration, Times>> times_ =
      std::make_shared<std::map<schema::Configuration, Times>>();
  std::shared_ptr<std::map<schema::Configuration, std::optional<double>>> recorded_ =
      std::make_shared<std::map<schema::Configuration, std::optional<double>>>();
  std::vector<schema::Dimension> dimensions_;
  bool on_gpu_ = false;
  search::SearchSpace space_;
  double best_ = HUGE_VAL;
  double best_recorded_ = HUGE_VAL;
};

}  // namespace ridgeline::fakes
