// SPDX-License-Identifier: Apache-2.0
#include "store/old_request.hpp"

#include <gtest/gtest.h>

namespace ridgeline::store {
namespace {

schema::TuneRequest request_of(const std::string& command_line, const base::Json& old = base::Json::object()) {
  schema::TuneRun run;
  run.command_line = command_line;
  auto request = old_request(run, old);
  EXPECT_TRUE(request) << request.error().message;
  return request.value_or(schema::TuneRequest());
}

TEST(OldRequest, the_line_is_read_as_a_shell_reads_it) {
  const auto spaced = request_of("ridgeline tune model.onnx --config '/srv/my service/config.yaml' -q");
  EXPECT_EQ(spaced.arguments, (std::vector<std::string>{"ridgeline", "tune", "model.onnx", "--config",
                                                        "/srv/my service/config.yaml", "-q"}));
  EXPECT_EQ(spaced.config_path, "/srv/my service/config.yaml");
  EXPECT_EQ(request_of("ridgeline tune m.onnx '--config=/srv/it'\\''s/config.yaml'").config_path,
            "/srv/it's/config.yaml");
  EXPECT_EQ(request_of("ridgeline tune m.onnx --config config.yaml").config_path, "config.yaml");
  EXPECT_EQ(request_of("ridgeline tune m.onnx --config-section ort").config_path, "");
  EXPECT_EQ(request_of("ridgeline tune m.onnx --config").config_path, "");
  EXPECT_TRUE(request_of("").arguments.empty());
}

TEST(OldRequest, the_records_path_is_better_than_the_typed_name) {
  const base::Json old{{"config_path", "/srv/config.yaml"}};
  EXPECT_EQ(request_of("ridgeline tune m.onnx --config config.yaml", old).config_path, "/srv/config.yaml");
}

TEST(OldRequest, tells_a_tolerance_that_was_given_from_the_default) {
  EXPECT_TRUE(request_of("ridgeline tune m.onnx").check_accuracy);
  EXPECT_FALSE(request_of("ridgeline tune m.onnx").accuracy_tolerance.has_value());
  EXPECT_FALSE(request_of("ridgeline tune m.onnx --accuracy-tolerance off").check_accuracy);
  EXPECT_EQ(request_of("ridgeline tune m.onnx --accuracy-tolerance=0.01").accuracy_tolerance, 0.01);
}

TEST(OldRequest, knows_a_watchs_retune) {
  EXPECT_TRUE(request_of("ridgeline watch --config config.yaml --on-degrade retune").watch);
  EXPECT_FALSE(request_of("ridgeline tune watch").watch);
}

TEST(OldRequest, takes_the_rest_from_the_record) {
  schema::TuneRun run;
  run.command_line = "ridgeline tune m.onnx --objective p99 --seed 4 --max-time 5m --fresh --output r.md";
  run.provider = "cuda";
  const auto found = old_request(run, {{"objective", "p99"}, {"seed", 4}, {"search", "quick"}});
  ASSERT_TRUE(found) << found.error().message;
  const auto& request = *found;
  EXPECT_EQ(request.objective, schema::Objective::p99);
  EXPECT_EQ(request.seed, 4U);
  EXPECT_EQ(request.search, "quick");
  EXPECT_EQ(request.provider, "cuda");
  EXPECT_EQ(request.max_time, std::chrono::minutes(5));
  EXPECT_FALSE(request.use_store);
  EXPECT_EQ(request.outputs, std::vector<std::string>{"r.md"});
}

TEST(OldRequest, what_stands_behind_the_dashes_of_a_sweep_is_not_ours) {
  schema::SweepRun run;
  run.command_line = "ridgeline sweep --param n=1,2 -- train '{n}' --config theirs.yaml --keep-going";
  const std::vector<std::string> command{"train", "{n}", "--config", "theirs.yaml", "--keep-going"};
  const auto request = old_request(run, {{"job", {{"command", command}}}});
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->config_path, "");
  EXPECT_FALSE(request->keep_going);
  EXPECT_EQ(request->arguments.back(), "--keep-going");
  EXPECT_EQ(request->job.command, command);
}

TEST(OldRequest, names_what_it_cannot_read) { EXPECT_FALSE(old_request(schema::TuneRun(), {{"min_effect", "much"}})); }

}  // namespace
}  // namespace ridgeline::store
