// SPDX-License-Identifier: Apache-2.0
#include "trace/record/counting_notes.hpp"

#include <gtest/gtest.h>

#include "fakes/words.hpp"

namespace ridgeline::trace {
namespace {

std::vector<std::string> notes_of(const std::vector<std::string>& facts) {
  std::vector<RecordedProcess> processes;
  for (const auto& text : facts) processes.push_back(read_facts(text));
  return fakes::texts_of(counting_notes(processes));
}

TEST(CountingNotes, each_reason_has_its_fix_and_is_there_once) {
  const std::vector<std::pair<std::string, std::string>> fixes = {
      {"no_steps", "--counters rerun"},
      {"no_privilege", "NVreg_RestrictProfilingToAdminUsers=0"},
      {"no_privilege", "--cap-add=SYS_ADMIN"},
      {"busy", "dcgmi profile --pause"},
      {"unsupported", "cannot count them: because"},
      {"concurrent", "--counters window"},
      {"collectives", "on one GPU"},
      {"too_many", "part of a step"},
      {"failed", "counting failed: because"}};
  for (const auto& [state, fix] : fixes) {
    const auto facts = "counters=" + state + "\ncounters_why=because\n";
    const auto notes = notes_of({facts, "counters=counted\n", facts});
    ASSERT_EQ(notes.size(), 1U) << state;
    EXPECT_NE(notes[0].find(fix), std::string::npos) << notes[0];
  }
}

TEST(CountingNotes, where_all_was_counted_or_nothing_was_to_be_are_none) {
  EXPECT_TRUE(notes_of({"counters=counted\n", "counters=none\n", "", "counters=of_the_future\n"}).empty());
  EXPECT_TRUE(notes_of({"uses_cuda=0\ncounters=no_steps\n"}).empty()) << "a helper of the program";
  EXPECT_TRUE(notes_of({"events=9\ncounters=counted\n", "counters=no_steps\n"}).empty()) << "one that opens CUDA";
}

}  // namespace
}  // namespace ridgeline::trace
