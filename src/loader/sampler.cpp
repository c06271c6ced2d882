// SPDX-License-Identifier: Apache-2.0
#include "loader/sampler.hpp"

#include <algorithm>
#include <numeric>
#include <span>

#include "base/random.hpp"

namespace ridgeline::loader {
namespace {

using base::ErrorCode;
using base::fail;

__extension__ using Wide = unsigned __int128;

std::uint64_t below(base::Random& random, std::uint64_t bound) {
  auto product = Wide{random.next()} * bound;
  if (static_cast<std::uint64_t>(product) < bound) {
    const auto unfair = (0 - bound) % bound;
    while (static_cast<std::uint64_t>(product) < unfair) product = Wide{random.next()} * bound;
  }
  return static_cast<std::uint64_t>(product >> 64U);
}

void shuffle(base::Random& random, std::span<std::uint64_t> items) {
  for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(random, i)]);
}

}  // namespace

base::Result<Sampler> Sampler::make(std::uint64_t samples, std::uint64_t samples_per_chunk, SamplerOptions options) {
  if (options.order == SampleOrder::shuffled_chunks && options.window_chunks == 0)
    return fail(ErrorCode::invalid_argument, "a shuffle window of 0 chunks: expected at least 1");
  for (const auto sample : options.given)
    if (options.order == SampleOrder::given && sample >= samples)
      return fail(ErrorCode::invalid_argument, "sample {} in the given order: there are {}", sample, samples);
  return Sampler(samples, std::max<std::uint64_t>(samples_per_chunk, 1), std::move(options));
}

std::uint64_t Sampler::size() const noexcept {
  return options_.order == SampleOrder::given ? options_.given.size() : samples_;
}

std::vector<std::uint64_t> Sampler::epoch(std::uint64_t number) const {
  if (options_.order == SampleOrder::given) return options_.given;
  std::vector<std::uint64_t> order(samples_);
  std::iota(order.begin(), order.end(), std::uint64_t{0});
  base::Random start(options_.seed + 0x9E3779B97F4A7C15ULL * (number + 1));
  base::Random random(start.next());
  if (options_.order == SampleOrder::shuffled) shuffle(random, order);
  if (options_.order != SampleOrder::shuffled_chunks) return order;
  std::vector<std::uint64_t> chunks((samples_ + samples_per_chunk_ - 1) / samples_per_chunk_);
  std::iota(chunks.begin(), chunks.end(), std::uint64_t{0});
  shuffle(random, chunks);
  order.clear();
  for (std::size_t first = 0; first < chunks.size(); first += options_.window_chunks) {
    const auto begin = order.size();
    const auto end = std::min<std::size_t>(chunks.size(), first + options_.window_chunks);
    for (std::size_t i = first; i < end; ++i) {
      const auto sample = chunks[i] * samples_per_chunk_;
      for (auto s = sample; s < std::min(sample + samples_per_chunk_, samples_); ++s) order.push_back(s);
    }
    shuffle(random, std::span(order).subspan(begin));
  }
  return order;
}

}  // namespace ridgeline::loader
