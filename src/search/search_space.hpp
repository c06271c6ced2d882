// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/random.hpp"
#include "schema/configuration.hpp"
#include "schema/tune_run.hpp"

namespace ridgeline::search {

/// A rule that a configuration must keep, on top of the catalogue's value ranges ("inter_op_num_threads needs
/// execution_mode=parallel"). Keys that the configuration leaves unset count as the runtime's default.
struct SpaceRule {
  std::string text;  ///< for people
  std::function<bool(const schema::Configuration&)> allows;
  std::vector<std::string> keys = {};  ///< that it looks at; used to name a rule that leaves nothing
};

/// Finite set of configurations: a cross product of dimensions over fixed values, cut by rules. A value equal to the
/// runtime's default is represented by leaving the key unset, so equal settings have one configuration (canonical).
class SearchSpace {
 public:
  SearchSpace() = default;
  /// Values equal to the default are dropped from the dimensions (unset stands for them), as are repeated values,
  /// fixed keys and dimensions left without values. Keys of `always_set` have no default, and no configuration of the
  /// space leaves them unset.
  SearchSpace(std::vector<schema::Dimension> dimensions, schema::Configuration fixed, std::vector<SpaceRule> rules,
              std::vector<std::string> always_set = {});

  [[nodiscard]] const std::vector<schema::Dimension>& dimensions() const noexcept { return dimensions_; }
  [[nodiscard]] const schema::Configuration& fixed() const noexcept { return fixed_; }
  /// Cross-product size, before rules; may be huge, hence a double.
  [[nodiscard]] double raw_size() const noexcept;
  /// The rules hold and the fixed keys have their fixed values. A value outside a dimension's list is no offence: the
  /// user's current configuration may lie between the candidates.
  [[nodiscard]] bool allows(const schema::Configuration& configuration) const;
  /// allows(), and no key is set but dimensions and fixed ones.
  [[nodiscard]] bool covers(const schema::Configuration& configuration) const;
  /// nullptr when the key is not searched.
  [[nodiscard]] const schema::Dimension* dimension(const std::string& key) const;
  /// Drops values equal to the catalogue's default and settings a rule makes meaningless; adds the fixed ones.
  [[nodiscard]] schema::Configuration canonical(const schema::Configuration& configuration) const;
  /// Whether a configuration of the space may leave the key unset.
  [[nodiscard]] bool may_be_unset(const std::string& key) const;
  /// The starting point: nothing set but the fixed keys.
  [[nodiscard]] schema::Configuration defaults() const { return canonical({}); }
  /// All allowed, canonical, distinct configurations in a stable order, the default first; stops after `limit`.
  [[nodiscard]] std::vector<schema::Configuration> enumerate(std::size_t limit) const;
  /// One allowed configuration, uniformly over the raw product (rejection; falls back to the default, allowed or not,
  /// when a thousand draws found none).
  [[nodiscard]] schema::Configuration sample(base::Random& random) const;

 private:
  std::vector<schema::Dimension> dimensions_;
  schema::Configuration fixed_;
  std::vector<SpaceRule> rules_;
  std::vector<std::string> always_set_;
};

}  // namespace ridgeline::search
