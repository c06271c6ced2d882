// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "campaign/tune/tune_campaign.hpp"

namespace ridgeline::campaign {

/// For the report, and for whoever watches.
inline void add_note(TuneResult& result, CampaignObserver& observer, std::string text) {
  result.run.notes.push_back(std::move(text));
  observer.note(result.run.notes.back());
}

}  // namespace ridgeline::campaign
