// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>

namespace ridgeline::search {

/// Combinations of levers that may be faster than what was measured, each lever a dimension. Pure. After the trial
/// without any and those of each alone, it proposes all that help at once, and these with all that do no harm, since
/// levers that bring nothing alone may do so once something else limits training no more. Then the best with one more
/// or one other; without one, if a combination is slower than its levers promise; and without one that is not needed.
///   while (auto next = search.propose()) search.observe(*next, measure(*next));
class LeverSearch {
 public:
  using Combination = std::set<std::size_t>;  ///< numbers of levers, 0 and more; empty: none is on

  /// `levers`: how many there are; `exclude`: whether two cannot be on at once. At most `most` combinations are
  /// proposed, those of one lever and of none counted; 0: two for each lever, and one.
  LeverSearch(std::size_t levers, std::function<bool(std::size_t, std::size_t)> exclude, std::size_t most = 0);

  /// nullopt: nothing more is worth a trial. Never one that was observed.
  [[nodiscard]] std::optional<Combination> propose();
  /// `rate`: samples/s, or whatever more is better of; nullopt: it cannot be used.
  void observe(const Combination& combination, std::optional<double> rate);
  /// The one with the fewest levers among those within 1 % of the fastest so far; empty where that is none, or nothing
  /// was observed.
  [[nodiscard]] Combination best() const;

 private:
  struct Candidate {
    Combination combination;
    double promise = 0;  ///< natural logarithm of the gain over the best
  };
  [[nodiscard]] double log_rate(const Combination& combination) const;
  /// Best logarithm of the gain by adding the lever to a combination, of all pairs observed; 0 if there is none.
  [[nodiscard]] double effect(std::size_t lever) const;
  [[nodiscard]] bool is_usable(const Combination& combination) const;
  /// Whether a combination with all of these and more is as fast as the best.
  [[nodiscard]] bool brings_nothing(const Combination& combination) const;
  [[nodiscard]] std::optional<Combination> first_ones() const;
  /// All whose gain alone is at least that, as a logarithm; of those that exclude each other the better one.
  [[nodiscard]] Combination all_from(double gain) const;
  [[nodiscard]] Candidate with_one_more() const;
  [[nodiscard]] Candidate without_one() const;
  /// The best without the lever that brings least; empty: it needs all.
  [[nodiscard]] std::optional<Combination> simpler() const;

  std::size_t levers_;
  std::function<bool(std::size_t, std::size_t)> exclude_;
  std::size_t most_;
  std::map<Combination, std::optional<double>> observed_;
};

}  // namespace ridgeline::search
