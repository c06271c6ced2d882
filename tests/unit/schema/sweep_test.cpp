// SPDX-License-Identifier: Apache-2.0
#include "schema/sweep.hpp"
#include "fakes/words.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "schema/sweep_command.hpp"
#include "schema/sweep_metric.hpp"

namespace ridgeline::schema {
namespace {

using testing::Test;

std::string error_of(const base::Result<void>& result) { return result ? "" : base::error_line(result.error()); }

SweepJob job(std::vector<std::string> command, std::vector<SweepParam> parameters) {
  SweepJob out;
  out.command = std::move(command);
  out.parameters = std::move(parameters);
  return out;
}

TEST(SweepParam, reads_names_and_values) {
  const auto param = parse_sweep_param("batch=64, 128,0.10");
  ASSERT_TRUE(param) << param.error().message;
  EXPECT_EQ(param->name, "batch");
  EXPECT_EQ(param->values, (std::vector<std::string>{"64", "128", "0.10"}));
  const auto listed = parse_sweep_param("mode=[\"a,b\", 3, true, \"\"]");
  ASSERT_TRUE(listed) << listed.error().message;
  EXPECT_EQ(listed->values, (std::vector<std::string>{"a,b", "3", "true", ""}));
}

TEST(SweepParam, ranges_are_numbers) {
  const auto values = [](const char* text) {
    const auto param = parse_sweep_param(text);
    return param ? fmt::format("{}", fmt::join(param->values, " ")) : base::error_line(param.error());
  };
  EXPECT_EQ(values("n=1..5"), "1 2 3 4 5");
  EXPECT_EQ(values("n=-1..1"), "-1 0 1");
  EXPECT_EQ(values("n=7..7"), "7");
  EXPECT_EQ(values("n=1..3, 8,16"), "1 2 3 8 16");
  EXPECT_EQ(values("n=1..10+4"), "1 5 9");
  EXPECT_EQ(values("n=0..0.3+0.1"), "0 0.1 0.2 0.3");
  EXPECT_EQ(values("n=16..256*2"), "16 32 64 128 256");
  EXPECT_EQ(values("n=1e-4..1e-1*10"), "0.0001 0.001 0.01 0.1");
  EXPECT_EQ(values("n=[\"1..5\"]"), "1..5");
  EXPECT_EQ(values("f=../a,../b"), "../a ../b");
  EXPECT_EQ(values("f=a..b"), "a..b");
  for (const auto& [text, part] : {std::pair{"n=5..1", "n: 5..1: it ends before it begins"},
                                   {"n=1..x", "n: 1..x: expected a number behind the dots"},
                                   {"n=1..", "expected a number behind the dots"},
                                   {"n=0.1..0.5", "expected whole numbers, or a step"},
                                   {"n=1..5+0", "expected a step above 0"},
                                   {"n=1..5+x", "expected a step above 0"},
                                   {"n=1..5*1", "expected a factor above 1"},
                                   {"n=0..5*2", "beginning above 0"},
                                   {"n=1..1000000000", "more than 10000 values"},
                                   {"n=1..3,2", "value 2 is given twice"}})
    EXPECT_NE(values(text).find(part), std::string::npos) << values(text);
}

TEST(SweepParam, refuses_slips) {
  for (const auto* text : {"batch", "=1", "batch=", "batch=1,", "batch=1,1", "1st=2", "a b=1", "trial_dir=1",
                           "repeat=1", "m=[1", "m=[[1]]", "m=[]"})
    EXPECT_FALSE(parse_sweep_param(text)) << text;
}

TEST(SweepCommand, replaces_placeholders_and_leaves_other_braces_alone) {
  const SweepPoint point{{"batch", "64"}, {"lr", "0.1"}};
  EXPECT_EQ(substitute("--bs={batch},{lr}", point), "--bs=64,0.1");
  EXPECT_EQ(substitute("{\"a\": {\"b\": {batch}}}", point), "{\"a\": {\"b\": 64}}");
  EXPECT_EQ(substitute("${batch} {} {0} { batch }", point), "${batch} {} {0} { batch }");
  EXPECT_EQ(substitute("{{batch}}", point), "{batch}");
  EXPECT_EQ(substitute("{batch", point), "{batch");
  EXPECT_EQ(placeholders("{a}{b-2} {{c}} ${d}"), (std::vector<std::string>{"a", "b-2"}));
}

TEST(SweepCommand, values_are_not_looked_into_again) {
  EXPECT_EQ(substitute("{a}", {{"a", "{b}"}, {"b", "1"}}), "{b}");
}

TEST(SweepCommand, names_unknown_placeholders_and_unused_parameters) {
  const SweepParam batch{"batch", {"1"}};
  EXPECT_EQ(error_of(check_placeholders(job({"x", "{batch}", "{trial_dir}", "{repeat}"}, {batch}))), "");
  const auto unknown = error_of(check_placeholders(job({"x", "{batches}"}, {batch})));
  EXPECT_NE(unknown.find("argument 1: placeholder {batches} is no parameter; did you mean \"batch\"?"),
            std::string::npos)
      << unknown;
  EXPECT_NE(unknown.find("{{batches}}"), std::string::npos) << unknown;
  EXPECT_NE(
      error_of(check_placeholders(job({"x"}, {batch}))).find("--param batch: neither command nor --env has {batch}"),
      std::string::npos);
  EXPECT_NE(error_of(check_placeholders(job({"x", "{batch}"}, {batch, batch}))).find("given twice"), std::string::npos);
  auto by_environment = job({"x"}, {batch});
  by_environment.environment = {{"BATCH", "{batch}"}};
  EXPECT_EQ(error_of(check_placeholders(by_environment)), "");
}

TEST(SweepTrialSpec, the_key_is_the_question_and_not_its_limits) {
  SweepTrialSpec spec;
  spec.job = job({"x", "{batch}"}, {{"batch", {"1", "2"}}});
  spec.point = {{"batch", "1"}};
  auto other = spec;
  other.job.parameters.front().values.emplace_back("3");
  other.job.timeout_s = 9;
  EXPECT_EQ(other.key(), spec.key());
  other.repeat = 1;
  EXPECT_NE(other.key(), spec.key());
  other = spec;
  other.point["batch"] = "2";
  EXPECT_NE(other.key(), spec.key());
  other = spec;
  other.job.environment = {{"A", "b"}};
  EXPECT_NE(other.key(), spec.key());
}

TEST(SweepRun, survives_json) {
  SweepRun run;
  run.id = "1";
  run.request.job = job({"x", "{batch}"}, {{"batch", {"1", "2"}}});
  run.request.job.metrics = {{"loss", SweepSource::json, "a.b", SweepTake::median}};
  run.request.objective = {"loss", false};
  SweepTrial trial;
  trial.point = {{"batch", "2"}};
  trial.outcome.status = TrialStatus::timeout;
  trial.outcome.failure = Failure{};
  trial.outcome.files = {{"/bin/x", "abc"}};
  run.trials = {trial};
  run.answers = SweepAnswers{};
  run.answers->gain = stats::Estimate{1.2, 1.1, 1.3};
  const base::Json json = run;
  const auto back = base::json_as<SweepRun>(json, "run");
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(base::Json(*back), json);
  EXPECT_EQ(back->request.job.metrics.front().take, SweepTake::median);
}

double taken(const char* metric, std::string_view output) {
  const auto parsed = parse_sweep_metric(metric);
  if (!parsed) return -1;
  const auto found = metrics_in_output({*parsed}, output);
  if (!found.diverged.empty()) return -3;
  return found.values.empty() ? -2 : found.values.begin()->second;
}

std::string divergence(const char* metric, std::string_view output) {
  const auto found = metrics_in_output({*parse_sweep_metric(metric)}, output);
  return found.diverged.empty() ? "" : fakes::text_of(describe(found.diverged.front()));
}

TEST(SweepMetric, takes_the_last_match_unless_told_otherwise) {
  constexpr std::string_view kOutput = "speed: 10 it/s\rspeed: 40 it/s\nspeed: 20 it/s, speed: 30 it/s\n";
  EXPECT_EQ(taken("s=speed: ([0-9.]+)", kOutput), 30);
  EXPECT_EQ(taken("s=first:speed: ([0-9.]+)", kOutput), 10);
  EXPECT_EQ(taken("s=median:speed: ([0-9.]+)", kOutput), 25);
  EXPECT_EQ(taken("s=mean:speed: ([0-9.]+)", kOutput), 25);
  EXPECT_EQ(taken("s=max:speed: ([0-9.]+)", kOutput), 40);
  EXPECT_EQ(taken("s=min:speed: ([0-9.]+)", kOutput), 10);
  EXPECT_EQ(taken("s=sum:speed: ([0-9.]+)", kOutput), 100);
  EXPECT_EQ(taken("s=[0-9]+", "a 7 b"), 7);
  EXPECT_EQ(taken("s=loss=(.*)", "loss=-1.5e-3"), -1.5e-3);
}

TEST(SweepMetric, text_that_is_no_number_is_no_match) {
  EXPECT_EQ(taken("s=loss: (\\S+)", "loss: high\nloss: info\nloss: nano\n"), -2);
  EXPECT_EQ(taken("s=loss: (\\S+)", "loss: 3\nloss: high\n"), 3);
}

TEST(SweepMetric, a_number_that_ends_as_nan_or_infinity_has_diverged) {
  // Expressions that take any word, and those that a "nan" does not match.
  for (const auto* metric :
       {"loss=loss (\\S+)", "loss=loss ([0-9.eE+-]+)", "loss=loss (-?[0-9]+\\.[0-9]+)", "loss=loss (\\d+)",
        "loss=loss (-?\\d\\.\\d+e-\\d+)", "loss=loss +([0-9.]{3,})", "loss=^.*loss ([^ ]+)$"})
    for (const auto* word : {"nan", "NaN", "-nan", "inf", "-inf", "+Inf", "Infinity", "-infinity"}) {
      const auto output = fmt::format("loss 2.3\nloss 0.4\nother 1\nloss {}\nloss {}\n", word, word);
      EXPECT_EQ(divergence(metric, output), fmt::format("diverged: loss is {} at line 4", word)) << metric;
    }
  EXPECT_EQ(divergence("loss=is ([0-9.]+)", "The loss is 2\nThe loss is nan.\n"), "diverged: loss is nan at line 2");
  EXPECT_EQ(divergence("loss=loss=([0-9.]+)", "step 1 loss=0.4\rstep 2 loss=nan, lr=0.1\n"),
            "diverged: loss is nan at line 1");
  EXPECT_EQ(taken("loss=loss ([0-9.]+)", "loss nan\nloss 0.4\n"), 0.4);                          // it recovered
  EXPECT_EQ(taken("loss=loss ([0-9.]+)", "loss 0.4\ngrad nan\nloss is nan\nlossy nan\n"), 0.4);  // none of its lines
  EXPECT_EQ(taken("loss=loss ([0-9.]+)", "loss 0.4 grad nan\n"), 0.4);
  EXPECT_EQ(taken("loss=loss ([0-9.]+)", "loss 0.4\nloss nano\nloss info\nloss nan_count\n"), 0.4);
  EXPECT_EQ(divergence("loss=loss (\\S+)", "loss 1\nloss 1e999\n"), "diverged: loss is 1e999 at line 2");
}

TEST(SweepMetric, what_is_taken_says_whether_a_nan_matters) {
  constexpr std::string_view kOutput = "loss nan\nloss 3\nloss inf\nloss 1\n";
  EXPECT_EQ(taken("l=loss ([0-9.]+)", kOutput), 1);
  EXPECT_EQ(taken("l=median:loss ([0-9.]+)", kOutput), 2);
  EXPECT_EQ(taken("l=min:loss ([0-9.]+)", kOutput), 1);
  EXPECT_EQ(taken("l=max:loss ([0-9.]+)", kOutput), 3);
  EXPECT_EQ(divergence("l=first:loss ([0-9.]+)", kOutput), "diverged: l is nan at line 1");
  EXPECT_EQ(divergence("l=mean:loss ([0-9.]+)", kOutput), "diverged: l is nan at line 1");
  EXPECT_EQ(divergence("l=sum:loss ([0-9.]+)", "loss 3\nloss inf\nloss 1\n"), "diverged: l is inf at line 2");
  EXPECT_EQ(divergence("l=median:loss ([0-9.]+)", "loss 3\nloss nan\n"), "diverged: l is nan at line 2");
  EXPECT_EQ(divergence("l=min:loss ([0-9.]+)", "loss nan\n"), "diverged: l is nan at line 1");
}

TEST(SweepMetric, json_lines_diverge_too) {
  for (const auto* word : {"NaN", "Infinity", "-Infinity", "\"nan\"", "\"-inf\"", "null"}) {
    const auto output =
        fmt::format("{{\"a\": {{\"loss\": 0.4}}}}\n{{\"note\": \"NaN: \\\"x\", \"a\": {{\"loss\": {}}}}}\n", word);
    std::string text = word;
    text.erase(std::remove(text.begin(), text.end(), '"'), text.end());
    EXPECT_EQ(divergence("l=json:a.loss", output), fmt::format("diverged: l is {} at line 2", text)) << output;
  }
  EXPECT_EQ(taken("l=json:loss", "{\"loss\": null}\n{\"loss\": 0.4, \"grad\": NaN}\n"), 0.4);
  EXPECT_EQ(taken("l=mean:json:loss", "{\"loss\": 1}\n{\"loss\": null}\n{\"loss\": 3}\n"), 2);
  EXPECT_EQ(taken("l=json:loss", "{\"loss\": 0.4}\n{\"loss\": \"high\"}\n"), 0.4);
}

TEST(SweepMetric, reads_json_lines) {
  constexpr std::string_view kOutput =
      "{\"loss\": 3}\nnoise {\n{\"train\": {\"loss\": 2.5}, \"loss\": 1}\n[1]\n{broken\n";
  EXPECT_EQ(taken("l=json:loss", kOutput), 1);
  EXPECT_EQ(taken("l=first:json:loss", kOutput), 3);
  EXPECT_EQ(taken("l=json:train.loss", kOutput), 2.5);
  EXPECT_EQ(taken("l=json:a.b", "{\"a.b\": 4}"), 4);
  EXPECT_EQ(taken("l=json:loss", "{\"loss\": \"3\"}"), -2);
}

TEST(SweepMetric, survives_hostile_output) {
  EXPECT_EQ(taken("s=(a+)+b", std::string(1900, 'a') + "b"), -2);
  EXPECT_EQ(taken("s=.*speed ([0-9]+)", std::string(5'000'000, 'x')), -2);
  EXPECT_EQ(taken("s=([0-9]+)", std::string("\0\0 5 \xFF", 6)), 5);
}

TEST(SweepMetric, finds_matches_of_every_kind_of_expression) {
  EXPECT_EQ(taken("s=speeds? +([0-9]+)", "speed  7"), 7);
  EXPECT_EQ(taken("s=(?:fast|slow): ([0-9]+)", "slow: 7"), 7);
  EXPECT_EQ(taken("s=a: ([0-9]+)|b: ([0-9]+)", "a: 7"), 7);
  EXPECT_EQ(taken("s=\\[rate\\.x\\] ([0-9]+)", "[rate.x] 7"), 7);
  EXPECT_EQ(taken("s=x{2}y ([0-9]+)", "xxy 7"), 7);
  EXPECT_EQ(taken("s=[\\]a]b ([0-9]+)", "]b 7"), 7);
  EXPECT_EQ(taken("s=\\bit/s\\s*=\\s*(\\d+)", "it/s = 7"), 7);
  EXPECT_EQ(taken("s=\\.?rate ([0-9]+)", "rate 7"), 7);
  EXPECT_EQ(taken("s=ab+c*d ([0-9]+)", "abbd 7"), 7);
  EXPECT_EQ(taken("s=(x)\\1", "xx"), -1);  // back-references are refused
}

TEST(SweepMetric, refuses_slips) {
  for (const auto* text : {"loss", "=x", "loss=", "loss=json:", "loss=([0-9]", "seconds=(.*)", "a b=x", "loss=last:"})
    EXPECT_FALSE(parse_sweep_metric(text)) << text;
}

TEST(SweepMetric, reads_a_file_of_names_and_numbers) {
  const auto found = metrics_in_file("# mine\nloss 0.5\nspeed\t12e2  # fast\n\nloss 0.25\n", "m.txt");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(*found, (std::map<std::string, double>{{"loss", 0.25}, {"speed", 1200}}));
  for (const auto* text : {"loss", "loss high", "loss 1 2", "loss nan"}) {
    const auto bad = metrics_in_file(text, "m.txt");
    ASSERT_FALSE(bad) << text;
    const auto start = std::string_view(text) == "loss nan" ? "diverged: loss is nan at line 1 of m.txt" : "m.txt:1: ";
    EXPECT_EQ(bad.error().message.rfind(start, 0), 0U) << bad.error().message;
  }
  EXPECT_EQ(metrics_in_file("loss nan\nloss 2\n", "m.txt")->at("loss"), 2);
  EXPECT_FALSE(metrics_in_file("loss 2\nloss -inf\n", "m.txt"));
}

TEST(SweepObjective, reads_way_and_metric) {
  const auto objective = parse_sweep_objective("max:samples_per_s");
  ASSERT_TRUE(objective);
  EXPECT_TRUE(objective->maximize);
  EXPECT_EQ(objective->to_text(), "max:samples_per_s");
  for (const auto* text : {"samples_per_s", "max:", "most:x", ""}) EXPECT_FALSE(parse_sweep_objective(text)) << text;
}

}  // namespace
}  // namespace ridgeline::schema
