// SPDX-License-Identifier: Apache-2.0
#include "report/profile/profile_report.hpp"

#include <numeric>

#include <gtest/gtest.h>

#include "fakes/words.hpp"
#include "report/html/page_parts.hpp"
#include "report/profile/module_icicle.hpp"
#include "report/renderers.hpp"

namespace ridgeline::report {
namespace {

std::size_t times_in(const std::string& text, std::string_view word) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += word.size()) ++count;
  return count;
}

schema::ProfileModule module_row(const std::string& name, int parent, std::int64_t self_ns, std::int64_t total_ns,
                                 schema::ModuleKind kind = schema::ModuleKind::module) {
  schema::ProfileModule row;
  row.name = row.path = name;
  row.parent = parent;
  row.kind = kind;
  row.gpu_self_ns = self_ns;
  row.gpu_total_ns = total_ns;
  return row;
}

/// A network of two layers, 10 ms on a GPU.
schema::ProfileRun small_run() {
  schema::ProfileRun run;
  run.id = "p1";
  run.started_utc = run.finished_utc = "2026-01-01T00:00:00Z";
  run.sources.push_back({"trace.json", "PyTorch profiler", 10, 20});
  auto& tables = run.tables;
  tables.span_ns = 12'000'000;
  tables.devices.emplace_back();
  tables.devices[0].span_ns = 12'000'000;
  tables.devices[0].busy_ns = 10'000'000;
  schema::ProfileKernel kernel;
  kernel.name = "gemm";
  kernel.calls = 7;
  kernel.total_ns = 10'000'000;
  tables.kernels.push_back(kernel);
  tables.modules = {module_row("", -1, 0, 10'000'000, schema::ModuleKind::root), module_row("Net", 0, 0, 10'000'000),
                    module_row("Layer_</script>0", 1, 6'000'000, 6'000'000),
                    module_row("Layer_1", 1, 4'000'000, 4'000'000)};
  return run;
}

TEST(ProfilePage, holds_the_events_once_and_refers_to_nothing_outside) {
  const auto model = build_profile_report(fakes::words(), small_run(), "QUJDRA==");
  const auto page = render_html(model, "");
  EXPECT_EQ(times_in(page, "QUJDRA=="), 1U);
  EXPECT_EQ(times_in(page, "Layer_\\u003c/script\\u003e0\""), 1U) << "the icicle's row, which ends no element";
  EXPECT_EQ(times_in(page, "</script>"), 5U) << "data of both drawings, charts, ECharts, our own";
  for (const auto* word : {" src=\"", "href=\"http", "url(", "@import", "<link", "https:", "http:"})
    EXPECT_EQ(page.find(word), std::string::npos) << word;
}

TEST(ProfilePage, tells_the_drawings_in_words) {
  const auto model = build_profile_report(fakes::words(), small_run(), "QUJDRA==");
  for (const auto& text : {render_markdown(model), render_html(model, "")}) {
    EXPECT_NE(text.find("7 kernels in 12.0 ms."), std::string::npos);
    EXPECT_NE(text.find("Net takes 100 % of 10.0 ms."), std::string::npos);
  }
  EXPECT_EQ(render_markdown(model).find("QUJDRA"), std::string::npos);
}

TEST(ProfilePage, says_where_the_events_are_not_kept) {
  const std::string sentence = "The timeline is left out: the events are not kept.";
  const auto without = render_html(build_profile_report(fakes::words(), small_run()), "");
  EXPECT_NE(without.find(sentence), std::string::npos);
  EXPECT_EQ(without.find("data-timeline=\"\""), std::string::npos);
  EXPECT_EQ(render_markdown(build_profile_report(fakes::words(), small_run(), "")).find(sentence), std::string::npos);
}

TEST(ProfilePage, has_only_the_scripts_that_it_needs) {
  const auto page = [](std::vector<Block> blocks) {
    return render_html({"t", "", {{"s", "S", std::move(blocks)}}, ""}, "");
  };
  const auto has = [](const std::string& text, std::string_view part) {
    return text.find(part.substr(0, 200)) != std::string::npos;
  };
  const auto bare = page({Paragraph{"x"}, Timeline{"t", "T", "a", ""}});
  EXPECT_FALSE(has(bare, canvas_js()) || has(bare, canvas_css()) || has(bare, timeline_js()) || has(bare, icicle_js()));
  const auto timeline = page({Timeline{"t", "T", "a", "QQ=="}});
  EXPECT_TRUE(has(timeline, canvas_js()) && has(timeline, canvas_css()) && has(timeline, timeline_js()));
  EXPECT_FALSE(has(timeline, icicle_js()));
  const auto icicle = page({Icicle{"i", "I", "a", base::Json::object()}});
  EXPECT_TRUE(has(icicle, canvas_js()) && has(icicle, icicle_js()));
  EXPECT_FALSE(has(icicle, timeline_data_js()));
}

TEST(ModuleIcicle, the_shortest_of_many_rows_become_part_of_those_above) {
  auto run = small_run();
  auto& modules = run.tables.modules;
  for (int i = 0; i < 6000; ++i) modules.push_back(module_row("op", 2, 1 + i, 1 + i, schema::ModuleKind::operation));
  const auto all = std::accumulate(modules.begin(), modules.end(), std::int64_t{0},
                                   [](auto sum, const auto& row) { return sum + row.gpu_self_ns; });
  const auto icicle = module_icicle(fakes::words(), run);
  ASSERT_TRUE(icicle);
  const auto& rows = icicle->data["rows"];
  EXPECT_EQ(rows.size(), 5000U);
  EXPECT_EQ(icicle->data["folded"], 6004 - 5000);
  std::int64_t self = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    self += rows[i][4].get<std::int64_t>();
    EXPECT_LT(rows[i][0].get<std::int64_t>(), static_cast<std::int64_t>(i)) << "parents come first";
  }
  EXPECT_EQ(self, all) << "no time is lost";
}

TEST(ModuleIcicle, there_is_none_without_modules) {
  auto run = small_run();
  run.tables.modules.resize(1);
  EXPECT_FALSE(module_icicle(fakes::words(), run));
  run.tables.modules.clear();
  EXPECT_FALSE(module_icicle(fakes::words(), run));
}

}  // namespace
}  // namespace ridgeline::report
