// SPDX-License-Identifier: Apache-2.0
#include "report/tune_report.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <regex>
#include <set>

#include "analysis/ranking.hpp"
#include "base/text.hpp"
#include "fakes/tune_run_fixture.hpp"
#include "fakes/words.hpp"
#include "report/charts/chart_parts.hpp"
#include "report/format.hpp"
#include "report/json_report.hpp"
#include "report/renderers.hpp"
#include "report/tune_view.hpp"
#include "unit/report/golden.hpp"

namespace ridgeline::report {
namespace {

const fakes::TuneRecords& fixture_records() {
  static const auto records = fakes::TuneRunFixture::make();
  return records;
}

ReportModel fixture_report() {
  const auto& records = fixture_records();
  return build_tune_report(fakes::words(), records.run, records.outcomes, records.pairs);
}

/// Built once: ranking resamples, which takes its time in a debug build.
const ReportModel& shared_report() {
  static const auto report = fixture_report();
  return report;
}

/// The page without its style sheet and scripts, which have files of their own.
std::string page_body(const std::string& page) {
  const auto head = page.find("<style>");
  const auto body = page.find("</style>");
  const auto script = page.find("<script>");
  return page.substr(0, head) + page.substr(body + 8, script - body - 8) + "\n";
}

std::set<std::string> all_matches(const std::string& text, const std::string& pattern) {
  std::set<std::string> out;
  const std::regex regex(pattern);
  for (std::sregex_iterator at(text.begin(), text.end(), regex), end; at != end; ++at) out.insert((*at)[1]);
  return out;
}

TEST(TuneReport, renders_the_fixed_run_as_markdown) { expect_golden("tune.md", render_markdown(shared_report())); }

TEST(TuneReport, renders_the_fixed_run_as_html) {
  expect_golden("tune.html", page_body(render_html(shared_report(), "")));
}

TEST(TuneReport, renders_the_fixed_run_as_a_picture) { expect_golden("tune.svg", render_svg(shared_report())); }

TEST(TuneReport, gives_the_fixed_run_as_json) {
  const auto records = fakes::TuneRunFixture::make();
  auto json = tune_json(fakes::words(), records.run, records.outcomes, records.pairs);
  expect_golden("tune.json", json.dump(1) + "\n");
}

TEST(TuneReport, gives_the_same_bytes_for_the_same_records) {
  EXPECT_EQ(render_html(fixture_report(), "x"), render_html(shared_report(), "x"));
}

TEST(TuneReport, leads_with_the_verdict_its_ratio_and_its_interval) {
  const auto report = shared_report();
  const auto& callout = std::get<Callout>(report.sections.at(0).blocks.at(0));
  EXPECT_EQ(callout.tone, Tone::good);
  EXPECT_NE(callout.text.find("**1.61× as fast**"), std::string::npos) << callout.text;
  EXPECT_NE(callout.text.find("95 % interval 1.59–1.63"), std::string::npos) << callout.text;
}

TEST(TuneReport, says_why_two_medians_give_another_ratio_than_the_comparison) {
  auto records = fakes::TuneRunFixture::make();
  const auto text = [&] {
    const auto report = build_tune_report(fakes::words(), records.run, records.outcomes, records.pairs);
    return std::get<Callout>(report.sections.at(0).blocks.at(0)).text;
  };
  EXPECT_EQ(text().find("different times"), std::string::npos) << "1.606 is within 1.59 to 1.63";
  for (const double ratio : {1.4, 1.9}) {
    records.run.verdict->gain =
        schema::Comparison{ratio, ratio - 0.05, ratio + 0.05, 0.0001, 40, schema::Verdict::faster};
    EXPECT_NE(text().find("instead of 21.53 ms. The two were measured at different times"), std::string::npos)
        << text();
  }
}

// On an uneven machine the recommended one's own trial may have been the slower: nobody believes "2.00× as fast, 7.6 ms
// instead of 5.2 ms".
TEST(TuneReport, tells_the_medians_of_the_comparison_where_those_of_the_trials_contradict_it) {
  auto records = fakes::TuneRunFixture::make();
  records.run.verdict->gain = schema::Comparison{2, 1.9, 2.1, 0.0001, 40, schema::Verdict::faster};
  schema::PairedOutcome outcome;
  outcome.measurement.emplace();
  for (const char arm : {'A', 'B', 'B', 'A'})
    outcome.measurement->blocks.push_back({arm, std::vector<double>(9, arm == 'A' ? 30e6 : 15e6), 0});
  outcome.measurement->blocks.push_back({'A', {90e6}, 0, 0, 1.0});
  const auto pair = std::find_if(records.run.pairs.begin(), records.run.pairs.end(), [&](const auto& one) {
    return one.purpose == schema::PairPurpose::finalist && one.b == records.run.verdict->configuration;
  });
  ASSERT_NE(pair, records.run.pairs.end());
  records.pairs[pair->key] = outcome;
  const auto report = build_tune_report(fakes::words(), records.run, records.outcomes, records.pairs);
  const auto text = std::get<Callout>(report.sections.at(0).blocks.at(0)).text;
  EXPECT_NE(text.find("median latency 15.00 ms instead of 30.00 ms, interleaved."), std::string::npos) << text;
  EXPECT_EQ(text.find("different times"), std::string::npos) << text;
  const auto& figures = std::get<KeyFigures>(report.sections.at(0).blocks.at(1)).figures;
  EXPECT_EQ(figures.at(0).value, "30.00 ms");
  EXPECT_EQ(figures.at(1).value, "15.00 ms");
}

TEST(TuneReport, says_why_the_recommended_trial_can_stand_outside_the_first_group) {
  const auto records = fixture_records();
  auto changed = records;
  const auto text = [](const fakes::TuneRecords& of) {
    const auto report = build_tune_report(fakes::words(), of.run, of.outcomes, of.pairs);
    const auto ranking = std::find_if(report.sections.begin(), report.sections.end(),
                                      [](const auto& one) { return one.id == "ranking"; });
    return std::get<Paragraph>(ranking->blocks.at(0)).text;
  };
  EXPECT_EQ(text(records).find("although"), std::string::npos);
  EXPECT_NE(text(records).find("; which of them is recommended follows from"), std::string::npos);
  const auto ranking = analysis::rank(changed.run, changed.outcomes);
  const auto outside = std::find_if(ranking.begin(), ranking.end(), [](const auto& one) { return one.rank == 2; });
  ASSERT_NE(outside, ranking.end());
  changed.run.verdict->trial_id = outside->trial->id;
  const auto said = text(changed);
  const auto id = std::to_string(outside->trial->id);
  EXPECT_NE(said.find("Trial [" + id + "](#trial-" + id + ") is recommended although its rank is 2"), std::string::npos)
      << said;
  EXPECT_NE(said.find("with the current configuration decides, in which it reached 1.61×."), std::string::npos) << said;
  EXPECT_EQ(said.find("is preferred"), std::string::npos) << said;
}

TEST(TuneReport, a_flag_that_is_read_back_as_a_number_was_taken_over) {
  auto records = fakes::TuneRunFixture::make();
  auto& trial = records.run.trials.front();
  trial.configuration.set("disable_prepacking", true);
  auto& effective = records.outcomes.at(trial.key).measurement->effective_settings;
  const auto swallowed = [&] {
    const auto page = render_markdown(build_tune_report(fakes::words(), records.run, records.outcomes, records.pairs));
    const auto at = page.find("not applied by the runtime");
    return at != std::string::npos && page.find("disable_prepacking", at) != std::string::npos;
  };
  effective["disable_prepacking"] = "1";
  EXPECT_FALSE(swallowed());
  effective["disable_prepacking"] = "0";
  EXPECT_TRUE(swallowed());
}

TEST(TuneReport, promises_no_contributions_where_none_were_measured) {
  auto records = fakes::TuneRunFixture::make();
  const auto titles = [&] {
    std::set<std::string> out;
    for (const auto& section : build_tune_report(fakes::words(), records.run, records.outcomes, records.pairs).sections)
      out.insert(section.title);
    return out;
  };
  const std::string contributions = "What each setting contributes";
  const std::string finalists = "The finalists, compared";
  EXPECT_EQ(titles().count(contributions), 1U);
  EXPECT_EQ(titles().count(finalists), 0U);
  auto& made = records.run.pairs;
  made.erase(std::remove_if(made.begin(), made.end(),
                            [](const auto& one) { return one.purpose == schema::PairPurpose::leave_one_out; }),
             made.end());
  EXPECT_EQ(titles().count(contributions), 0U);
  EXPECT_EQ(titles().count(finalists), 1U);
}

TEST(TuneReport, tells_what_stored_trials_took_beside_the_time_of_this_search) {
  auto records = fakes::TuneRunFixture::make();
  double took_s = 0;
  for (auto& trial : records.run.trials) {
    trial.cached = true;
    const auto outcome = records.outcomes.find(trial.key);
    if (outcome != records.outcomes.end()) took_s += outcome->second.duration_s;
  }
  records.run.duration_s = 0.054;
  const auto page = render_markdown(build_tune_report(fakes::words(), records.run, records.outcomes, records.pairs));
  EXPECT_NE(page.find("the stored trials took " + base::format_duration(took_s * 1e9)), std::string::npos);
  EXPECT_EQ(render_markdown(shared_report()).find("the stored trials took"), std::string::npos);
}

TEST(ChartParts, an_axis_shows_what_matters_and_not_how_slow_the_slowest_was) {
  base::Json axis = base::Json::object();
  limit_axis(axis, {{2.0, 1.99, 2.01, true}, {1.9, 1.89, 1.91, true}, {2.2, 1.0, 9.0, false}});
  EXPECT_EQ(axis["from"], 1.89);
  EXPECT_EQ(axis["to"], 2.2) << "a wide interval of another trial does not count";
  axis = base::Json::object();
  limit_axis(axis, {{2.0, 1.99, 2.01, true}, {2.2, 2.1, 2.3, false}});
  EXPECT_TRUE(axis.empty()) << "everything is near";
  limit_axis(axis, {{2.0, 1.9, 2.1, false}});
  EXPECT_TRUE(axis.empty()) << "nothing matters more than the rest";
  limit_axis(axis, {{2.0, 1.99, 2.01, true}, {6.4, 6.3, 6.5, false}});
  EXPECT_EQ(axis["to"], 2.01);
}

TEST(TuneReport, resolves_every_link_to_one_anchor_of_the_page) {
  const auto page = page_body(render_html(shared_report(), ""));
  const auto targets = all_matches(page, "id=\"([^\"]+)\"");
  const auto links = all_matches(page, "href=\"#([^\"]+)\"");
  EXPECT_GE(links.size(), 30U);
  for (const auto& link : links) EXPECT_EQ(targets.count(link), 1U) << link;
  const std::regex regex("id=\"[^\"]+\"");
  const auto ids = std::distance(std::sregex_iterator(page.begin(), page.end(), regex), std::sregex_iterator());
  EXPECT_EQ(static_cast<std::size_t>(ids), targets.size()) << "an id is used twice";
}

TEST(TuneReport, lists_every_trial_in_every_form) {
  const auto records = fakes::TuneRunFixture::make();
  const auto report = shared_report();
  const auto markdown = render_markdown(report);
  const auto page = render_html(report, "");
  for (const auto& trial : records.run.trials) {
    EXPECT_NE(markdown.find(fmt::format("<a id=\"trial-{}\"></a>", trial.id)), std::string::npos) << trial.id;
    EXPECT_NE(page.find(fmt::format("id=\"trial-{}\"", trial.id)), std::string::npos) << trial.id;
  }
}

/// The fixture's run with the verdict to keep what is in use.
fakes::TuneRecords kept_records() {
  auto records = fakes::TuneRunFixture::make();
  records.run.verdict->decision = schema::Decision::keep;
  records.run.verdict->configuration = records.run.current;
  records.run.verdict->trial_id = 1;
  return records;
}

TEST(TuneReport, says_keep_when_nothing_is_better) {
  auto records = kept_records();
  records.run.verdict->gain = schema::Comparison{1.006, 0.997, 1.015, 0.2, 12, schema::Verdict::no_difference};
  const auto report = build_tune_report(fakes::words(), records.run, records.outcomes, records.pairs);
  const auto& callout = std::get<Callout>(report.sections.at(0).blocks.at(0));
  EXPECT_EQ(callout.title, "Keep what you have");
  EXPECT_NE(callout.text.find("1.01×"), std::string::npos) << callout.text;
}

TEST(TuneReport, says_why_the_fastest_trial_is_not_the_recommended_one) {
  auto records = fakes::TuneRunFixture::make();
  auto& verdict = *records.run.verdict;
  const auto fastest = verdict.configuration;
  verdict.configuration = records.run.trials.at(8).configuration;
  verdict.trial_id = 9;
  schema::TunedPair head_to_head;
  head_to_head.purpose = schema::PairPurpose::head_to_head;
  head_to_head.a = fastest;
  head_to_head.b = verdict.configuration;
  head_to_head.comparison = schema::Comparison{1.05, 1.04, 1.06, 1e-9, 12, schema::Verdict::faster};
  records.run.pairs.push_back(head_to_head);
  const auto text = [&] {
    const auto report = build_tune_report(fakes::words(), records.run, records.outcomes, records.pairs);
    return std::get<Callout>(report.sections.at(0).blocks.at(0)).text;
  };
  EXPECT_NE(text().find("better in a session of its own; head to head the recommended one reached 1.05× of it"),
            std::string::npos)
      << text();
  const auto page = render_markdown(build_tune_report(fakes::words(), records.run, records.outcomes, records.pairs));
  EXPECT_NE(page.find("Trials head to head, interleaved"), std::string::npos);
  records.run.pairs.back().comparison = schema::Comparison{1.001, 0.99, 1.01, 0.5, 12, schema::Verdict::no_difference};
  EXPECT_NE(text().find("the recommended one is shown to be at most 2 % slower"), std::string::npos) << text();
  records.run.pairs.back().comparison = schema::Comparison{1.001, 0.97, 1.04, 0.5, 12, schema::Verdict::inconclusive};
  EXPECT_NE(text().find("the two could not be distinguished"), std::string::npos) << text();
  std::swap(records.run.pairs.back().a, records.run.pairs.back().b);
  records.run.pairs.back().comparison = schema::Comparison{0.95, 0.94, 0.96, 1e-9, 12, schema::Verdict::slower};
  EXPECT_NE(text().find("reached 1.05× of it"), std::string::npos) << text();
  // On an uneven machine sessions of different moments say nothing of each other.
  auto uneven = records;
  const auto correct = [&](std::size_t at, double factor) {
    auto& trial = uneven.run.trials.at(at);
    const double cost = factor * analysis::summarize(*uneven.outcomes.at(trial.key).measurement).median_ns;
    trial.corrected = schema::CorrectedCost{{cost, 0.99 * cost, 1.01 * cost}, false};
  };
  const auto of_uneven = [&] {
    const auto report = build_tune_report(fakes::words(), uneven.run, uneven.outcomes, uneven.pairs);
    return std::get<Callout>(report.sections.at(0).blocks.at(0)).text;
  };
  correct(8, 0.5);
  EXPECT_EQ(of_uneven().find("better"), std::string::npos) << of_uneven();
  correct(8, 1.1);
  EXPECT_NE(of_uneven().find("% better by its speed-corrected time; head to head"), std::string::npos) << of_uneven();
  EXPECT_EQ(of_uneven().find("session of its own"), std::string::npos) << of_uneven();
  records.run.pairs.pop_back();
  EXPECT_EQ(text().find("session of its own"), std::string::npos) << text();
  EXPECT_NE(text().find("ranks first by its own time, 1.7 % ahead of it, which is too little to count"),
            std::string::npos)
      << "the first row and the verdict agree, or a sentence says why not: " << text();
}

TEST(TuneReport, does_not_say_that_nothing_was_better_where_that_was_not_decided) {
  auto records = kept_records();
  records.run.verdict->gain.reset();
  records.run.verdict->reason = {};
  records.run.pairs.resize(1);
  records.run.pairs[0].purpose = schema::PairPurpose::finalist;
  records.run.pairs[0].comparison = schema::Comparison{1.555, 0.917, 2.636, 0.2, 12, schema::Verdict::inconclusive};
  const auto report = build_tune_report(fakes::words(), records.run, records.outcomes, records.pairs);
  const auto& callout = std::get<Callout>(report.sections.at(0).blocks.at(0));
  EXPECT_EQ(callout.title, "Not decided");
  EXPECT_EQ(callout.text.find("othing beat"), std::string::npos) << callout.text;
  EXPECT_NE(callout.text.find("the interval is too wide for a decision"), std::string::npos) << callout.text;
}

TEST(TuneReport, says_that_nothing_was_compared_where_the_current_configuration_does_not_run) {
  auto records = fakes::TuneRunFixture::make();
  records.run.verdict->gain.reset();
  records.run.verdict->reason =
      fakes::legacy("the current configuration does not run to the end (crashed: x); trial 7 is the nearest");
  const auto report = build_tune_report(fakes::words(), records.run, records.outcomes, records.pairs);
  const auto& callout = std::get<Callout>(report.sections.at(0).blocks.at(0));
  EXPECT_EQ(callout.text.rfind("Nothing was compared: ", 0), 0U) << callout.text;
  EXPECT_NE(callout.text.find("crashed: x"), std::string::npos) << callout.text;
}

TEST(TuneReport, lists_as_changes_what_is_written_to_the_file) {
  auto records = fakes::TuneRunFixture::make();
  records.run.verdict->changes = {{{"execution_mode", std::nullopt, schema::Value("parallel")},
                                   {"intra_op_num_threads", schema::Value(4), std::nullopt},
                                   {"provider", schema::Value("cpu"), schema::Value("openvino")}}};
  const auto page = render_markdown(build_tune_report(fakes::words(), records.run, records.outcomes, records.pairs));
  EXPECT_NE(page.find("| `execution_mode` | `sequential` (default) | `parallel` |"), std::string::npos)
      << page.substr(0, 3000);
  EXPECT_NE(page.find("| `intra_op_num_threads` | `4` | default: remove the key by hand |"), std::string::npos);
  EXPECT_NE(page.find("| `provider` | `cpu` | `openvino` |"), std::string::npos);
  const auto json = tune_json(fakes::words(), records.run, records.outcomes, records.pairs)["verdict"]["changed"];
  EXPECT_EQ(json.size(), 3U);
  EXPECT_EQ(json["provider"]["to"], "openvino");
}

TEST(TuneReport, has_the_code_of_a_session_and_compares_what_it_took) {
  auto records = fakes::TuneRunFixture::make();
  auto& code = records.run.verdict->code.emplace();
  code.python = "options = ort.SessionOptions()\n";
  code.cpp = "Ort::SessionOptions options;\n";
  const auto page = [&] {
    return render_markdown(build_tune_report(fakes::words(), records.run, records.outcomes, records.pairs));
  };
  EXPECT_NE(page().find("A session with the recommended configuration"), std::string::npos);
  EXPECT_NE(page().find("```cpp\nOrt::SessionOptions options;"), std::string::npos);
  EXPECT_NE(render_html(build_tune_report(fakes::words(), records.run, records.outcomes, records.pairs), "")
                .find("ort.SessionOptions()"),
            std::string::npos);
  EXPECT_EQ(page().find("lines were"), std::string::npos) << "it was not run, and nobody asked for that";
  code.python_run = schema::CodeRun{"/x/python3", 0.010, {}, 0.013};
  EXPECT_NE(
      page().find("The same lines of the current configuration took 13.0 ms: these are 1.30× as fast, so a program"),
      std::string::npos);
  code.python_run->current_median_s = 0.009;
  EXPECT_NE(page().find("these are **slower**, 0.90× as fast. The gain of the trials is not seen here"),
            std::string::npos);
  code.python_run->current_median_s = 0.0101;
  EXPECT_NE(page().find("these are equally fast, as far as one run of each can show. The gain of the trials"),
            std::string::npos);
  records.run.verdict->decision = schema::Decision::keep;
  records.run.verdict->configuration = records.run.current;
  code.python_run.reset();
  EXPECT_NE(page().find("A session with the current configuration"), std::string::npos);
}

TEST(TuneReport, gives_no_ratio_where_a_few_measurements_leave_a_factor_of_two) {
  auto records = kept_records();
  records.run.verdict->gain.reset();
  records.run.verdict->reason = {};
  records.run.pairs.resize(1);
  records.run.pairs[0].purpose = schema::PairPurpose::finalist;
  records.run.pairs[0].comparison = schema::Comparison{1.599, 0.083, 30.832, 0.9, 1, schema::Verdict::inconclusive};
  const auto page = [&] {
    return render_markdown(build_tune_report(fakes::words(), records.run, records.outcomes, records.pairs));
  };
  EXPECT_EQ(page().find("1.60×"), std::string::npos);
  EXPECT_EQ(page().find("30.83"), std::string::npos);
  EXPECT_NE(page().find("too few measurements"), std::string::npos);
  EXPECT_TRUE(
      tune_json(fakes::words(), records.run, records.outcomes, records.pairs)["comparisons"][0]["ratio"].is_null());

  records = fakes::TuneRunFixture::make();
  records.run.verdict->gain = schema::Comparison{2.1, 1.25, 3.6, 0.01, 2, schema::Verdict::faster};
  const auto report = build_tune_report(fakes::words(), records.run, records.outcomes, records.pairs);
  const auto& text = std::get<Callout>(report.sections.at(0).blocks.at(0)).text;
  EXPECT_NE(text.find("**at least 1.25× as fast** as the current configuration (too few measurements for a ratio)"),
            std::string::npos)
      << text;
}

TEST(TuneReport, shows_no_empty_configuration_beside_keep_what_you_have) {
  auto records = kept_records();
  const auto blocks = [&] {
    const auto report = build_tune_report(fakes::words(), records.run, records.outcomes, records.pairs);
    const auto& all = report.sections.at(0).blocks;
    return std::count_if(all.begin(), all.end(),
                         [](const auto& block) { return std::holds_alternative<CodeBlock>(block); });
  };
  records.run.current = records.run.verdict->configuration = {};
  EXPECT_EQ(blocks(), 0);
  records.run.current = records.run.verdict->configuration = {{"intra_op_num_threads", 2}};
  EXPECT_EQ(blocks(), 1);
}

TEST(TuneReport, shows_a_trial_as_measured_and_what_it_ranks_by_in_a_column_of_its_own) {
  auto records = fakes::TuneRunFixture::make();
  const auto plain = render_markdown(build_tune_report(fakes::words(), records.run, records.outcomes, records.pairs));
  EXPECT_EQ(plain.find("peed-corrected"), std::string::npos);
  const auto best = records.run.verdict->trial_id;
  auto& trial = records.run.trials.at(static_cast<std::size_t>(best - 1));
  const double median = analysis::summarize(*records.outcomes.at(trial.key).measurement).median_ns;
  trial.corrected = schema::CorrectedCost{{median * 0.6, median * 0.59, median * 0.61}, false};
  const TuneView view(fakes::words(), records.run, records.outcomes, records.pairs);
  const auto page = render_markdown(build_tune_report(fakes::words(), records.run, records.outcomes, records.pairs));
  EXPECT_NE(page.find("Speed-corrected, ms"), std::string::npos);
  EXPECT_NE(page.find("rank by their speed-corrected median latency"), std::string::npos);
  const auto corrected = view.objective.number(median * 0.6);
  std::size_t found = 0;
  for (auto at = page.find(corrected); at != std::string::npos; at = page.find(corrected, at + 1)) ++found;
  EXPECT_EQ(found, 1U) << corrected << " stands in the ranking's column alone";
  const auto json = tune_json(fakes::words(), records.run, records.outcomes, records.pairs);
  const auto& first = json["ranking"][0];
  EXPECT_EQ(first["trial_id"], best);
  EXPECT_DOUBLE_EQ(first["value"], median);
  EXPECT_DOUBLE_EQ(first["speed_corrected"]["value"], median * 0.6);
}

TEST(TuneReport, says_keep_once) {
  auto records = kept_records();
  records.run.verdict->gain.reset();
  records.run.verdict->reason = fakes::legacy("nothing beat it by 2 %; the best alternative is slower");
  const auto report = build_tune_report(fakes::words(), records.run, records.outcomes, records.pairs);
  const auto& callout = std::get<Callout>(report.sections.at(0).blocks.at(0));
  EXPECT_EQ(callout.title, "Keep what you have");
  EXPECT_EQ(callout.text, "Nothing beat it by 2 %; the best alternative is slower.");
}

TEST(TuneReport, stands_without_trials_verdict_or_outcomes) {
  const schema::TuneRun empty;
  const auto report = build_tune_report(fakes::words(), empty, {}, {});
  EXPECT_EQ(std::get<Callout>(report.sections.at(0).blocks.at(0)).title, "No verdict");
  auto records = fakes::TuneRunFixture::make();
  records.run.interrupted = true;
  records.run.verdict.reset();
  const auto cut = render_markdown(build_tune_report(fakes::words(), records.run, {}, {}));
  EXPECT_NE(cut.find("The run was interrupted"), std::string::npos);
  EXPECT_NE(cut.find("not finished"), std::string::npos);
}

TEST(TuneReport, states_throughput_and_tail_objectives_in_their_own_words) {
  auto records = fakes::TuneRunFixture::make();
  records.run.request.objective = schema::Objective::throughput;
  EXPECT_NE(render_markdown(build_tune_report(fakes::words(), records.run, records.outcomes, records.pairs))
                .find("**1.61× the throughput** of"),
            std::string::npos);
  records.run.request.objective = schema::Objective::p99;
  const auto page_at = [&](double tail) {
    records.run.verdict->gain->tail = tail;
    for (auto& pair : records.run.pairs)
      if (pair.comparison) pair.comparison->tail = tail;
    return render_markdown(build_tune_report(fakes::words(), records.run, records.outcomes, records.pairs));
  };
  const auto page = page_at(0.99);
  EXPECT_NE(page.find("at the 99th percentile** as"), std::string::npos);
  EXPECT_EQ(page.find("(p95)"), std::string::npos);
  const auto lower = page_at(0.95);
  EXPECT_NE(lower.find("at the 95th percentile** as"), std::string::npos);
  EXPECT_EQ(lower.find("at the 99th percentile"), std::string::npos);
  EXPECT_NE(lower.find(", of p95: too few samples for p99)"), std::string::npos);
  EXPECT_NE(lower.find("× (p95) |"), std::string::npos) << "in the table of finalists";
  EXPECT_NE(lower.find("% (p95) |"), std::string::npos) << "and in that of contributions";
}

TEST(TuneReport, quotes_no_percentile_that_the_samples_do_not_support) {
  auto records = fakes::TuneRunFixture::make();
  records.run.request.objective = schema::Objective::p99;
  for (auto& [key, outcome] : records.outcomes)
    if (outcome.measurement && outcome.measurement->latency_ns.size() > 16) outcome.measurement->latency_ns.resize(16);
  const auto json = tune_json(fakes::words(), records.run, records.outcomes, records.pairs);
  ASSERT_FALSE(json.at("ranking").empty());
  for (const auto& entry : json.at("ranking")) EXPECT_TRUE(entry.at("value").is_null()) << entry.dump();
  const auto page = render_markdown(build_tune_report(fakes::words(), records.run, records.outcomes, records.pairs));
  EXPECT_EQ(page.find(" instead of "), std::string::npos);
  EXPECT_EQ(page.find(" leads with "), std::string::npos) << "nor the charts";
}

TEST(TuneReport, links_trial_numbers_but_no_counts) {
  const auto records = fixture_records();
  const TuneView view(fakes::words(), records.run, records.outcomes, records.pairs);
  EXPECT_EQ(link_trials(view, "trials 1, 3 and 7"), "trials [1](#trial-1), [3](#trial-3) and [7](#trial-7)");
  EXPECT_EQ(link_trials(view, "trials 1, 3 and 16 more"), "trials [1](#trial-1), [3](#trial-3) and 16 more");
}

TEST(TuneReport, labels_of_charts_begin_with_what_tells_trials_apart) {
  const auto& records = fixture_records();
  const TuneView view(fakes::words(), records.run, records.outcomes, records.pairs);
  std::vector<schema::TunedTrial> trials(4);
  for (int i = 0; i < 4; ++i) trials[static_cast<std::size_t>(i)].id = i + 1;
  trials[0].configuration = records.run.current;
  const auto shared = records.run.current.with("execution_mode", "parallel");
  trials[1].configuration = shared;
  trials[2].configuration = shared.with("parallel_sessions", 2);
  trials[3].configuration = shared.with("parallel_sessions", 4);
  EXPECT_EQ(trial_labels(view, {trials.data(), &trials[1], &trials[2], &trials[3]}),
            (std::vector<std::string>{"#1\ncurrent configuration", "#2\nexecution_mode=parallel",
                                      "#3\nparallel_sessions=2 execution_mode=parallel",
                                      "#4\nparallel_sessions=4 execution_mode=parallel"}));
}

TEST(TuneReport, gives_one_rate_of_one_trial) {
  const auto page = render_markdown(shared_report());
  const auto rate = all_matches(page, "([0-9.]+ GFLOP/s)");
  EXPECT_EQ(rate.size(), 1U) << fmt::format("{}", fmt::join(rate, ", "));
  EXPECT_NE(page.find("GFLOP/s by trial [10](#trial-10)"), std::string::npos);
}

TEST(TuneReport, has_no_raw_samples_in_its_json) {
  const auto records = fakes::TuneRunFixture::make();
  const auto json = tune_json(fakes::words(), records.run, records.outcomes, records.pairs);
  EXPECT_EQ(json.dump().find("latency_ns"), std::string::npos);
  EXPECT_EQ(json.at("schema_version"), kTuneJsonVersion);
  EXPECT_EQ(json.at("trials").size(), records.run.trials.size());
  EXPECT_EQ(json.at("verdict").at("changed").at("intra_op_num_threads").at("from"), 8);
}

}  // namespace
}  // namespace ridgeline::report
