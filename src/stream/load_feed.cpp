// SPDX-License-Identifier: Apache-2.0
#include "stream/load_feed.hpp"

#include <algorithm>
#include <utility>

namespace ridgeline::stream {
namespace {

constexpr std::int64_t kMostSpinNs = 2'000'000;
constexpr std::int64_t kNapNs = 50'000'000;

void wait_until(const base::Clock& clock, std::int64_t due_ns, std::int64_t spin_ns, const Pipeline& pipeline) {
  for (;;) {
    const auto left_ns = due_ns - clock.now().count();
    if (left_ns <= 0 || !pipeline.takes()) return;
    if (left_ns > spin_ns) clock.sleep_for(base::Nanoseconds(std::min(left_ns - spin_ns, kNapNs)));
  }
}

}  // namespace

void feed_load(const std::vector<Arrival>& schedule, const std::vector<Clip>& clips, Pipeline& pipeline,
               const base::Clock& clock, std::int64_t spin_ns, LatenessAudit& audit) {
  const auto start_ns = clock.now().count();
  for (const auto& arrival : schedule) {
    const auto& clip = clips[arrival.source];
    const auto due_ns = start_ns + arrival.at_ns;
    NewFrame frame{arrival.source, clip[arrival.sequence % clip.size()], arrival.at_ns, due_ns, false};
    wait_until(clock, due_ns, spin_ns, pipeline);
    const auto issued_ns = clock.now().count();
    const auto offered = pipeline.offer(std::move(frame));
    audit.add(due_ns, issued_ns);
    if (offered == Offered::ended) break;
  }
  for (std::uint32_t source = 0; source < clips.size(); ++source) pipeline.close(source);
}

std::int64_t measure_spin_ns(const base::Clock& clock) {
  constexpr std::int64_t kSleepNs = 2'000'000;
  std::int64_t worst = 0;
  for (int i = 0; i < 20; ++i) {
    const auto begun = clock.now();
    clock.sleep_for(base::Nanoseconds(kSleepNs));
    worst = std::max<std::int64_t>(worst, (clock.now() - begun).count() - kSleepNs);
  }
  return std::min(worst + worst / 2, kMostSpinNs);
}

void feed_offline(const std::vector<Clip>& clips, std::int64_t duration_ns, Pipeline& pipeline,
                  const base::Clock& clock) {
  const auto end_ns = clock.now().count() + duration_ns;
  for (std::uint64_t number = 0; clock.now().count() < end_ns; ++number)
    for (std::uint32_t source = 0; source < clips.size(); ++source) {
      const auto& clip = clips[source];
      if (pipeline.offer({source, clip[number % clip.size()], 0, {}, true}) == Offered::ended) return;
    }
  for (std::uint32_t source = 0; source < clips.size(); ++source) pipeline.close(source);
}

}  // namespace ridgeline::stream
