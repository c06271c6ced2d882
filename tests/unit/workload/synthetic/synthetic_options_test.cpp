// SPDX-License-Identifier: Apache-2.0
#include "workload/synthetic/synthetic_options.hpp"

#include <gtest/gtest.h>

namespace ridgeline::workload {
namespace {

using schema::TrialPhase;

SyntheticOptions parsed(std::string_view text) {
  auto options = parse_synthetic_options(text);
  EXPECT_TRUE(options) << text << ": " << (options ? "" : options.error().message);
  return options ? *options : SyntheticOptions{};
}

TEST(SyntheticOptions, are_the_defaults_when_nothing_is_said) {
  for (const auto* text : {"", "synthetic:", "  "}) {
    const auto options = parsed(text);
    EXPECT_EQ(options.surface, SurfaceKind::conv);
    EXPECT_EQ(options.base, std::chrono::milliseconds(2));
    EXPECT_EQ(options.cores, 8);
    EXPECT_EQ(options.noise, 0.01);
    EXPECT_EQ(options.warmup, 5);
    EXPECT_EQ(options.clock, ClockMode::virtual_time);
    EXPECT_TRUE(options.faults.empty());
  }
}

TEST(SyntheticOptions, read_every_plain_item) {
  const auto options = parsed(
      "synthetic:surface=tiny, base=250us ,cores=16,noise=2.5%,drift=0.1,drift_period=1m,spikes=1%,spike_size=3.5,"
      "warmup=0,session_time=1s,memory=64,clock=real,seed=9");
  EXPECT_EQ(options.surface, SurfaceKind::tiny);
  EXPECT_EQ(options.base, std::chrono::microseconds(250));
  EXPECT_EQ(options.cores, 16);
  EXPECT_DOUBLE_EQ(options.noise, 0.025);
  EXPECT_DOUBLE_EQ(options.drift, 0.1);
  EXPECT_EQ(options.drift_period, std::chrono::minutes(1));
  EXPECT_DOUBLE_EQ(options.spikes, 0.01);
  EXPECT_DOUBLE_EQ(options.spike_size, 3.5);
  EXPECT_EQ(options.warmup, 0);
  EXPECT_EQ(options.session_time, std::chrono::seconds(1));
  EXPECT_EQ(options.memory_mib, 64);
  EXPECT_EQ(options.clock, ClockMode::real);
  EXPECT_EQ(options.seed, 9U);
}

TEST(SyntheticOptions, read_repeated_items_and_their_conditions) {
  const auto options = parsed(
      "slowdown=100% if execution_mode=parallel and intra_op_num_threads!=4,slowdown=-50%,"
      "accuracy=2% if graph_optimization_level=all,ignores=enable_mem_pattern,ignores=dynamic_block_base");
  ASSERT_EQ(options.slowdowns.size(), 2U);
  EXPECT_DOUBLE_EQ(options.slowdowns[0].ratio, 1);
  ASSERT_EQ(options.slowdowns[0].when.size(), 2U);
  EXPECT_EQ(options.slowdowns[0].when[0].key, "execution_mode");
  EXPECT_EQ(options.slowdowns[0].when[0].value, schema::Value("parallel"));
  EXPECT_FALSE(options.slowdowns[0].when[0].negated);
  EXPECT_EQ(options.slowdowns[0].when[1].value, schema::Value(4));
  EXPECT_TRUE(options.slowdowns[0].when[1].negated);
  EXPECT_DOUBLE_EQ(options.slowdowns[1].ratio, -0.5);
  EXPECT_TRUE(options.slowdowns[1].when.empty());
  ASSERT_EQ(options.accuracy.size(), 1U);
  EXPECT_DOUBLE_EQ(options.accuracy[0].ratio, 0.02);
  EXPECT_EQ(options.ignores, (std::vector<std::string>{"enable_mem_pattern", "dynamic_block_base"}));
}

TEST(SyntheticOptions, put_a_fault_where_its_kind_usually_shows) {
  const auto phase_of = [](const std::string& fault) { return parsed("fault=" + fault).faults.at(0).phase; };
  EXPECT_EQ(phase_of("segv"), TrialPhase::measure);
  EXPECT_EQ(phase_of("oom"), TrialPhase::create_session);
  EXPECT_EQ(phase_of("invalid"), TrialPhase::create_session);
  EXPECT_EQ(phase_of("unsupported"), TrialPhase::create_session);
  EXPECT_EQ(phase_of("nan"), TrialPhase::verify);
  EXPECT_EQ(phase_of("segv@warmup"), TrialPhase::warmup);
}

TEST(SyntheticOptions, know_every_fault_by_name) {
  for (const auto& [kind, name] : base::EnumNames<FaultKind>::names) {
    const auto options = parsed("fault=" + std::string(name));
    ASSERT_EQ(options.faults.size(), 1U);
    EXPECT_EQ(options.faults[0].kind, kind);
  }
}

TEST(SyntheticOptions, bind_a_fault_to_phase_and_settings) {
  const auto options = parsed("fault=oom@measure if intra_op_num_threads=4,fault=segv@measure,fault=exit@verify");
  const schema::Configuration four{{"intra_op_num_threads", 4}};
  ASSERT_NE(options.find_fault(TrialPhase::measure, four), nullptr);
  EXPECT_EQ(options.find_fault(TrialPhase::measure, four)->kind, FaultKind::oom) << "the first that fits";
  EXPECT_EQ(options.find_fault(TrialPhase::measure, {})->kind, FaultKind::segv);
  EXPECT_EQ(options.find_fault(TrialPhase::verify, four)->kind, FaultKind::exit);
  EXPECT_EQ(options.find_fault(TrialPhase::warmup, four), nullptr);
}

TEST(SettingConditions, compare_an_unset_key_by_its_default) {
  const auto holds_for = [](const std::string& condition, const schema::Configuration& configuration) {
    return holds(parsed("slowdown=1% if " + condition).slowdowns.at(0).when, configuration);
  };
  EXPECT_TRUE(holds_for("execution_mode=sequential", {}));
  EXPECT_FALSE(holds_for("execution_mode!=sequential", {}));
  EXPECT_FALSE(holds_for("execution_mode=sequential", {{"execution_mode", "parallel"}}));
  EXPECT_TRUE(holds_for("execution_mode!=sequential", {{"execution_mode", "parallel"}}));
  EXPECT_TRUE(holds_for("enable_mem_pattern=on and intra_op_num_threads=2", {{"intra_op_num_threads", 2}}));
  EXPECT_FALSE(holds_for("enable_mem_pattern=off and intra_op_num_threads=2", {{"intra_op_num_threads", 2}}));
  EXPECT_TRUE(holds({}, {})) << "no condition always holds";
}

struct Refusal {
  const char* text;
  std::vector<const char*> parts;  ///< of the message
};

class RefusedOptions : public ::testing::TestWithParam<Refusal> {};

TEST_P(RefusedOptions, name_the_item_and_what_was_expected) {
  const auto options = parse_synthetic_options(GetParam().text);
  ASSERT_FALSE(options) << GetParam().text;
  EXPECT_EQ(options.error().code, base::ErrorCode::invalid_argument);
  const auto message = base::error_line(options.error());
  EXPECT_EQ(message.rfind("synthetic workload", 0), 0U) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  for (const auto* part : GetParam().parts) EXPECT_NE(message.find(part), std::string::npos) << message;
}

INSTANTIATE_TEST_SUITE_P(
    all, RefusedOptions,
    ::testing::Values(
        Refusal{"surfaces=conv", {"unknown item \"surfaces\"", "did you mean \"surface\"", "drift_period"}},
        Refusal{"zzzzzzzz=1", {"unknown item \"zzzzzzzz\"; known: absent_cores, accuracy, base"}},
        Refusal{"noise", {"item \"noise\" has no value", "noise=..."}},
        Refusal{"noise=1%,,base=1ms", {"an item is empty", "stray comma"}}, Refusal{"noise=1%,", {"an item is empty"}},
        Refusal{"=1", {"unknown item \"\""}},
        Refusal{"surface=convv", {"unknown surface \"convv\"", "did you mean \"conv\"", "transformer, tiny, flat"}},
        Refusal{"surface=", {"unknown surface \"\""}},
        Refusal{"clock=reel", {"unknown clock \"reel\"", "did you mean \"real\"", "virtual"}},
        Refusal{"base=2parsec", {"base", "2parsec", "duration such as"}}, Refusal{"base=0ms", {"base", "0ms"}},
        Refusal{"base=-1ms", {"base", "-1ms"}}, Refusal{"base=2h", {"base=2h", "an hour"}},
        Refusal{"drift_period=61m", {"drift_period=61m", "an hour"}},
        Refusal{"session_time=soon", {"session_time", "soon"}}, Refusal{"cores=0", {"cores=0", "1..1024"}},
        Refusal{"cores=8.5", {"cores", "8.5", "whole number"}},
        Refusal{"cores=99999999999999999999", {"cores", "64-bit"}}, Refusal{"noise=101%", {"noise=101%", "0%..100%"}},
        Refusal{"noise=-1%", {"noise=-1%", "0%..100%"}}, Refusal{"noise=nan", {"noise", "nan", "finite number"}},
        Refusal{"drift=95%", {"drift=95%", "0%..90%"}}, Refusal{"spikes=2", {"spikes=2", "0%..100%"}},
        Refusal{"spike_size=0.5", {"spike_size=0.5", "1..1e+06"}},
        Refusal{"spike_size=1e300", {"spike_size=1e300", "1..1e+06"}},
        Refusal{"warmup=-1", {"warmup=-1", "0..1000000"}}, Refusal{"memory=many", {"memory", "many"}},
        Refusal{"seed=-1", {"seed=-1"}}, Refusal{"slowdown=fast", {"slowdown", "fast"}},
        Refusal{"slowdown=-100%", {"slowdown=-100%", "-99%"}}, Refusal{"slowdown=1e300", {"slowdown=1e300"}},
        Refusal{"accuracy=-1%", {"accuracy=-1%"}},
        Refusal{"ignores=enable_mem_patern", {"\"enable_mem_patern\"", "did you mean \"enable_mem_pattern\""}},
        Refusal{"fault=segfault", {"unknown fault \"segfault\"", "segv, abort"}},
        Refusal{"fault=abrt", {"unknown fault \"abrt\"", "did you mean \"abort\""}},
        Refusal{"fault=segv@mesure", {"unknown phase \"mesure\"", "did you mean \"measure\""}},
        Refusal{"fault=segv@", {"unknown phase \"\""}}, Refusal{"fault=segv@launch", {"segv@launch", "load_runtime"}},
        Refusal{"fault=nan@measure", {"fault nan", "verify", "measure"}}, Refusal{"fault=segv if", {"segv if"}},
        Refusal{"fault=segv if threads", {"fault=segv", "\"threads\"", "key=value"}},
        Refusal{"fault=segv if =4", {"fault=segv", "\"=4\"", "key=value"}},
        Refusal{"fault=segv@warmup if intra_op_num_thread=4",
                {"fault=segv@warmup", "\"intra_op_num_thread\"", "did you mean \"intra_op_num_threads\""}},
        Refusal{"slowdown=3% if execution_mode=paralel",
                {"slowdown=3%", "execution_mode=paralel", "did you mean \"parallel\""}},
        Refusal{"slowdown=3% if intra_op_num_threads=four", {"slowdown=3%", "intra_op_num_threads", "four"}},
        Refusal{"accuracy=3% if execution_mode=parallel and ", {"accuracy=3%", "parallel and"}},
        Refusal{"accuracy=3% if execution_mode=parallel and  and batch_size=2", {"accuracy=3%", "\"\""}}),
    [](const auto& test) { return "item_" + std::to_string(test.index); });

}  // namespace
}  // namespace ridgeline::workload
