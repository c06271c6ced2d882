// SPDX-License-Identifier: Apache-2.0
// All that a new kind of run needs: its runs are stored, listed, shown, reported and applied without another line.
#include <gtest/gtest.h>

#include "base/file.hpp"
#include "fakes/temporary_folder.hpp"
#include "fakes/words.hpp"
#include "report/renderers.hpp"
#include "run/registry.hpp"

namespace ridgeline::run {
namespace {

/// Rolls a die: the recommendation is the number of pips.
class DiceKind : public Kind {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "dice"; }
  [[nodiscard]] base::Result<report::ReportModel> report(const schema::Run& run, store::Store&) const override {
    return report::ReportModel{"Dice: " + run.line.subject,
                               "run " + run.id,
                               {{"answer", "Answer", {report::Paragraph{fakes::text_of(run.line.answer)}}}},
                               ""};
  }
  [[nodiscard]] base::Result<base::Json> json(const schema::Run& run, store::Store&) const override {
    return run.answer;
  }
  [[nodiscard]] base::Result<RunComparison> compare(const TrialName& a, const TrialName& b, store::Store&,
                                                    std::optional<double>) const override {
    const auto pips = [](const TrialName& name) { return name.run.answer.at("pips").get<double>(); };
    return RunComparison{{a.run.id, "a", "", "", {}}, {b.run.id, "b", "", "", {}}, {pips(b) / pips(a), 1, 1}};
  }
  [[nodiscard]] base::Result<RunComparison> rerun(const TrialName& name, store::Store& store) const override {
    return compare(name, name, store, 0);
  }
  [[nodiscard]] bool knows(const schema::Run&, std::string_view text, const Target&) const override {
    return text.find("pips:") != std::string_view::npos;
  }
  [[nodiscard]] base::Result<Change> change(const schema::Run& run, std::string_view text, const Target& target,
                                            store::Store&) const override {
    Change change;
    change.patch.text = fmt::format("pips: {}\n", run.answer.at("pips").get<int>());
    if (change.patch.text != text) change.patch.edits = {{"pips", "pips", 1, std::string(text), change.patch.text}};
    change.write = [file = target.file, patch = change.patch](std::string_view) -> base::Result<config::AppliedPatch> {
      RL_TRY(base::write_file_atomically(file, patch.text));
      return config::AppliedPatch{patch, {}};
    };
    return change;
  }
};

class CardKind final : public DiceKind {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "cards"; }
  [[nodiscard]] bool knows(const schema::Run&, std::string_view text, const Target&) const override {
    return text.find("suit:") != std::string_view::npos;
  }
};

schema::Run run_of(const std::string& kind, const std::string& id) {
  schema::Run run;
  run.id = id;
  run.kind = kind;
  run.started_utc = run.finished_utc = "2026-11-21T08:15:00Z";
  run.line = {"a fair die", "", "", "pips", "change", fakes::legacy("4 pips"), 4.0};
  run.request = {{"rolls", 3}};
  run.trials = {{1, "key", "roll", {{"hand", "left"}}, false, 0.5, fakes::legacy("the first"), nullptr}};
  run.answer = {{"pips", 4}};
  return run;
}

class ToyKindTest : public ::testing::Test {
 protected:
  void SetUp() override {
    kinds_.add(std::make_unique<DiceKind>());
    kinds_.add(std::make_unique<CardKind>());
    ASSERT_TRUE(store_.save_run(run_of("dice", "20261121-081500-d1ce")));
  }
  fakes::TemporaryFolder folder_;
  store::Store store_ = *store::Store::open(folder_ / "r.db");
  Registry kinds_;
};

TEST_F(ToyKindTest, is_in_the_history) {
  const auto runs = *store_.list_runs(10);
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0].kind, "dice");
  EXPECT_EQ(fakes::text_of(runs[0].line.answer), "4 pips");
  EXPECT_EQ(runs[0].trials, 1);
}

TEST_F(ToyKindTest, is_shown_and_reported) {
  const auto run = *store_.load_run("latest:dice");
  EXPECT_EQ(run.request["rolls"], 3);
  EXPECT_EQ(run.trials[0].settings["hand"], "left");
  const auto* kind = *kinds_.of(run);
  EXPECT_NE(report::render_markdown(*kind->report(run, store_)).find("Dice: a fair die"), std::string::npos);
  EXPECT_EQ(kind->json(run, store_)->at("pips"), 4);
}

TEST_F(ToyKindTest, is_compared) {
  auto better = run_of("dice", "20261121-091500-d1ce");
  better.answer["pips"] = 6;
  ASSERT_TRUE(store_.save_run(better));
  const auto found =
      kinds_.compare(*find_trial(store_, "20261121-08"), *find_trial(store_, "20261121-09/1"), store_, 0);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->comparison.ratio, 1.5);
  EXPECT_FALSE(find_trial(store_, "20261121-09/2")) << "it has one trial";
  ASSERT_TRUE(store_.save_run(run_of("cards", "20261121-101500-cafe")));
  EXPECT_FALSE(kinds_.compare(*find_trial(store_, "20261121-08"), *find_trial(store_, "latest"), store_, 0));
}

TEST_F(ToyKindTest, is_applied) {
  const auto file = (folder_ / "game.yaml").string();
  ASSERT_TRUE(base::write_file_atomically(file, "pips: 1\n"));
  const auto change = kinds_.change(*store_.load_run("latest"), "pips: 1\n", {file, {}, false, {}}, store_);
  ASSERT_TRUE(change);
  EXPECT_EQ(change->patch.edits.size(), 1U);
  ASSERT_TRUE(change->write("2026-11-21T08:15:00Z"));
  EXPECT_EQ(*base::read_file(file), "pips: 4\n");
}

TEST_F(ToyKindTest, a_file_of_another_kind_names_the_run_that_belongs_there) {
  const auto refused = [&] {
    return kinds_.change(*store_.load_run("latest:dice"), "suit: hearts\n", {"game.yaml", {}, false, {}}, store_);
  };
  EXPECT_TRUE(refused()) << "no run of the other kind is there";
  ASSERT_TRUE(store_.save_run(run_of("cards", "20261121-081500-cafe")));
  const auto change = refused();
  ASSERT_FALSE(change);
  EXPECT_NE(change.error().message.find("game.yaml: holds settings of ridgeline cards"), std::string::npos);
  EXPECT_NE(change.error().hint.find("ridgeline apply latest:cards --config game.yaml"), std::string::npos);
}

TEST_F(ToyKindTest, a_kind_of_a_newer_version_is_named) {
  const auto unknown = kinds_.of(run_of("stream", "x"));
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, base::ErrorCode::unsupported);
  EXPECT_NE(unknown.error().message.find("kind \"stream\", expected one of dice, cards"), std::string::npos);
}

}  // namespace
}  // namespace ridgeline::run
