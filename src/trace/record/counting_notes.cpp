// SPDX-License-Identifier: Apache-2.0
#include "trace/record/counting_notes.hpp"

#include <map>

#include "trace/messages.hpp"

namespace ridgeline::trace {
namespace {

/// Empty: nothing is wrong.
schema::Message note_of(CountingState state, const std::string& why) {
  switch (state) {
    case CountingState::none:
    case CountingState::counted: return {};
    case CountingState::no_steps: return messages::counters_no_steps();
    case CountingState::no_privilege: return messages::counters_no_privilege();
    case CountingState::busy: return messages::counters_busy();
    case CountingState::unsupported: return messages::counters_unsupported(why);
    case CountingState::concurrent: return messages::counters_concurrent();
    case CountingState::collectives: return messages::counters_collectives();
    case CountingState::too_many: return messages::counters_too_many();
    case CountingState::failed: break;
  }
  return messages::counters_failed(why);
}

}  // namespace

std::vector<schema::Message> counting_notes(const std::vector<RecordedProcess>& processes) {
  std::map<CountingState, std::string> reasons;  // the words of the first process that has some
  for (const auto& one : with_events(processes)) {
    if (!one.uses_cuda) continue;
    auto& why = reasons[one.counters];
    if (why.empty()) why = one.counters_why;
  }
  std::vector<schema::Message> out;
  for (const auto& [state, why] : reasons)
    if (auto note = note_of(state, why); !note.empty()) out.push_back(std::move(note));
  return out;
}

}  // namespace ridgeline::trace
