// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "campaign/tune/tune_campaign.hpp"
#include "ridgeline/terminal.hpp"
#include "watch/watch_loop.hpp"

namespace ridgeline::app {

/// Events as JSON lines on standard output, the same for people on standard error, probes there too when asked for. In
/// a terminal that would show both, the words stand alone. Also hears a retune, of which it tells the stages.
class WatchDisplay final : public watch::WatchObserver, public campaign::CampaignObserver {
 public:
  enum class Words { none, events, probes };

  WatchDisplay(Words words, Terminal out, Terminal err)
      : words_(words), err_(err), json_(words == Words::none || !out.interactive || !err.interactive) {}

  void event(const watch::WatchEvent& event) override;
  void probe(const watch::ProbeReport& report) override;
  void note(std::string_view line) override;
  void note(const schema::Message& message) override;
  void stage(std::string_view title) override;

  /// Error io: an event could not be written to standard output.
  [[nodiscard]] base::Result<void> check_output() const;

 private:
  void say(std::string_view word, Style style, std::string_view text);

  Words words_;
  Terminal err_;
  bool json_;
  bool intact_ = true;
};

}  // namespace ridgeline::app
