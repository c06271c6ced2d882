// SPDX-License-Identifier: Apache-2.0
#include "execute/worker_pool.hpp"

#include <algorithm>

namespace ridgeline::execute {

std::string WorkerPool::runtime_of(const schema::TrialSpec& spec) {
  return base::dump_json({spec.workload.kind, spec.runtime.library_path, spec.plugin ? spec.plugin->library_path : ""});
}

WorkerPool::Slot& WorkerPool::find(Role role, const std::optional<std::string>& runtime) {
  entries_.remove_if([](const Entry& entry) { return !entry.worker; });
  const auto fits = [&](bool loaded) {
    return std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
      return entry.role == role && (!runtime || entry.runtime == (loaded ? runtime : std::nullopt));
    });
  };
  auto found = fits(true);
  if (found == entries_.end()) found = fits(false);
  if (found == entries_.end()) found = entries_.insert(entries_.begin(), {role, runtime, nullptr});
  if (runtime) found->runtime = runtime;
  entries_.splice(entries_.begin(), entries_, found);
  const std::size_t most = role == Role::trials ? kMostRuntimes : 1;
  std::size_t seen = 0;
  entries_.remove_if([&](const Entry& entry) { return entry.role == role && ++seen > most; });
  return entries_.front().worker;
}

bool WorkerPool::has(Role role, const std::string& runtime) const {
  return std::any_of(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.worker && entry.role == role && (!entry.runtime || entry.runtime == runtime);
  });
}

void WorkerPool::leave_gpu(const Slot* kept) {
  for (auto& entry : entries_)
    if (&entry.worker != kept && entry.worker && entry.worker->on_gpu()) entry.worker.reset();
}

bool WorkerPool::on_gpu() const {
  return std::any_of(entries_.begin(), entries_.end(), [](const Entry& entry) {
    return entry.worker && entry.worker->on_gpu() && entry.worker->alive();
  });
}

}  // namespace ridgeline::execute
