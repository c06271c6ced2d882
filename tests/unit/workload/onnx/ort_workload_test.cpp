// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/ort_workload.hpp"
#include "fakes/words.hpp"

#include <malloc.h>

#include <map>
#include <thread>

#include "fakes/sanitizer.hpp"
#include "unit/workload/onnx/ort_fixture.hpp"

namespace ridgeline::workload {
namespace {

using base::ErrorCode;
using fakes::TinyOnnx;

class OrtWorkload : public OrtTest {};

bool mentions(const base::Error& error, std::string_view text) {
  const bool found = base::error_line(error).find(text) != std::string::npos;
  if (!found) ADD_FAILURE() << "\"" << base::error_line(error) << "\" does not mention \"" << text << "\"";
  return found;
}

TEST_F(OrtWorkload, runs_a_model_and_gives_its_outputs) {
  auto trial = spec(TinyOnnx()
                        .input("x", 1, {"2", "3"})
                        .floats("c", {1}, {10})
                        .output("y", 1, {"2", "3"})
                        .node("Add", {"x", "c"}, {"y"}),
                    one_thread());
  const auto made = workload(trial);
  ASSERT_TRUE(made->prepare()) << made->prepare().error().message;
  EXPECT_EQ(made->concurrency(), 1);
  EXPECT_GT(made->session_create_time().count(), 0);
  for (int run = 0; run < 5; ++run) ASSERT_TRUE(made->step(0)) << made->last_error(0).message;
  const auto outputs = made->outputs().value();
  ASSERT_EQ(outputs.size(), 2U);
  EXPECT_EQ(outputs[0].name, "y");
  EXPECT_EQ(outputs[1].name, "y (second inputs)");
  EXPECT_NE(outputs[0].bytes, outputs[1].bytes) << "a run that does not read its inputs again would go unseen";
  EXPECT_EQ(made->outputs().value()[0].bytes, outputs[0].bytes) << "the first inputs are back";
  EXPECT_EQ(outputs[0].dims, (std::vector<std::int64_t>{2, 3}));
  for (const float value : floats_of(outputs[0])) {
    EXPECT_GE(value, 10.0F);
    EXPECT_LE(value, 11.0F);
  }
}

TEST_F(OrtWorkload, the_same_seed_gives_the_same_outputs_in_every_configuration_and_another_seed_others) {
  auto trial = spec(relu_model(), one_thread());
  trial.workload.shapes = {{{"x", {3, 4}}}};
  const auto first = workload(trial);
  ASSERT_TRUE(first->prepare());
  trial.configuration = {
      {"intra_op_num_threads", 2}, {"graph_optimization_level", "disable_all"}, {"enable_mem_pattern", false}};
  const auto second = workload(trial);
  ASSERT_TRUE(second->prepare());
  trial.workload.seed = 2;
  const auto third = workload(trial);
  ASSERT_TRUE(third->prepare());
  const auto reference = first->outputs().value();
  EXPECT_EQ(reference[0].bytes, second->outputs().value()[0].bytes);
  EXPECT_NE(reference[0].bytes, third->outputs().value()[0].bytes);
}

// Each was our own fault, exit code 70, with a message that was cut before the numbers.
TEST_F(OrtWorkload, values_that_the_model_refuses_are_named_with_what_was_expected) {
  struct Refusal {
    const char* op;
    TinyOnnx::Names inputs;
    std::map<std::string, std::vector<std::int64_t>> given;
    const char* named;
    const char* expected;
  };
  const std::vector<Refusal> refusals{
      {"Gather", {"x", "a"}, {{"a", {7}}}, "a 2 = 7", "idx=7 must be within the inclusive range [-4,3]"},
      {"Mod", {"a", "b"}, {{"a", {3}}, {"b", {0}}}, "b 2 = 0", "modulo by zero"},
      {"Slice",
       {"x", "a", "b", "c", "d"},
       {{"a", {0}}, {"b", {4}}, {"c", {0, 1}}, {"d", {0}}},
       "d 2 = 0",
       "'step' value cannot be 0"},
      {"Slice", {"x", "a", "b", "c", "d"}, {{"a", {0}}, {"b", {4}}, {"c", {0, 9}}, {"d", {1}}}, "c 2 = 0, 9", "axis"},
      {"Expand", {"x", "a"}, {{"a", {3, 3}}}, "a 2 = 3, 3", "invalid expand shape"},
      {"Reshape", {"x", "a"}, {{"a", {5, 5}}}, "a 2 = 5, 5", "cannot be reshaped"}};
  for (const auto& one : refusals) {
    const bool has_data = one.inputs.front() == "x";
    auto model = TinyOnnx().output("y", has_data ? 1 : 7, {"p", "q"});
    for (const auto& name : one.inputs)
      model.input(name, name == "x" ? 1 : 7, name == "x" ? TinyOnnx::Names{"4", "4"} : TinyOnnx::Names{"2"});
    auto trial = spec(model.node(one.op, one.inputs, {"y"}), one_thread());
    auto& values = trial.workload.input_values.emplace_back();
    auto& shapes = trial.workload.shapes.emplace_back();
    for (const auto& name : one.inputs) {
      shapes.push_back({name, name == "x" ? std::vector<std::int64_t>{4, 4} : std::vector<std::int64_t>{2}});
      if (const auto given = one.given.find(name); given != one.given.end()) {
        values.emplace_back().name = name;
        values.back().elements = given->second;
      }
    }
    const auto made = workload(trial);
    ASSERT_TRUE(made->prepare()) << one.op;
    const auto ran = made->run_once();
    ASSERT_FALSE(ran) << one.op;
    const auto& error = ran.error();
    EXPECT_EQ(error.code, ErrorCode::refused_inputs) << one.op;
    for (const char* part :
         {"the runtime refuses the inputs", one.named, one.expected, "--input NAME=VALUE", "--shape"})
      EXPECT_TRUE(mentions(error, part)) << one.op;
  }
}

#if defined(__x86_64__)
TEST_F(OrtWorkload, denormal_numbers_are_zero_where_its_own_session_has_them_so_whichever_came_first) {
  const auto model = TinyOnnx()
                         .input("x", 1, {"2"})
                         .floats("tiny", {1}, {1e-41F})
                         .floats("large", {1}, {1e38F})
                         .output("y", 1, {"2"})
                         .node("Mul", {"x", "tiny"}, {"t"})
                         .node("Mul", {"t", "large"}, {"y"});
  const auto has_flag = [](const Workload& made) { return schema::has_flag(made.flags(), schema::kMetDenormals); };
  std::vector<std::unique_ptr<Workload>> sessions;
  for (const bool zero : {false, true, false, true}) {
    sessions.push_back(workload(spec(model, one_thread().with("set_denormal_as_zero", zero))));
    ASSERT_TRUE(sessions.back()->prepare());
  }
  for (std::size_t at = 0; at < 4; ++at) {
    auto& made = *sessions[at];
    ASSERT_TRUE(made.step(0));
    EXPECT_EQ(has_flag(made), at % 2 == 0) << at;
    const auto outputs = made.outputs();
    ASSERT_TRUE(outputs);
    EXPECT_EQ(floats_of(outputs->front())[0] == 0, at % 2 == 1) << at;
  }
  auto relu = spec(relu_model(), one_thread());
  relu.workload.shapes = {{{"x", {3, 4}}}};
  const auto plain = workload(relu);
  ASSERT_TRUE(plain->prepare());
  ASSERT_TRUE(plain->run_once());
  EXPECT_FALSE(has_flag(*plain));
}
#endif

TEST_F(OrtWorkload, a_shape_mix_is_cycled_through_and_gives_the_outputs_of_every_member) {
  auto trial = spec(relu_model(), one_thread());
  trial.workload.shapes = {{{"x", {1, 4}}}, {{"x", {5, 4}}}};
  const auto made = workload(trial);
  ASSERT_TRUE(made->prepare());
  for (int run = 0; run < 7; ++run) ASSERT_TRUE(made->step(0)) << made->last_error(0).message;
  const auto outputs = made->outputs().value();
  ASSERT_EQ(outputs.size(), 4U);
  EXPECT_EQ(outputs[0].dims[0], 1);
  EXPECT_EQ(outputs[2].dims[0], 5);
  EXPECT_DOUBLE_EQ(made->items_per_step(), 3);
}

TEST_F(OrtWorkload, the_batch_size_sets_the_dynamic_batch_axis) {
  auto trial = spec(relu_model(), one_thread().with("batch_size", 6));
  trial.workload.shapes = {{{"x", {1, 4}}}};
  const auto made = workload(trial);
  ASSERT_TRUE(made->prepare());
  EXPECT_DOUBLE_EQ(made->items_per_step(), 6);
  EXPECT_EQ(made->outputs().value()[0].dims, (std::vector<std::int64_t>{6, 4}));
}

/// How many of 50 inferences failed in each caller, all callers at once.
std::vector<int> failures_side_by_side(Workload& workload) {
  std::vector<int> failed(static_cast<std::size_t>(workload.concurrency()), 0);
  std::vector<std::thread> threads;
  for (int caller = 0; caller < workload.concurrency(); ++caller)
    threads.emplace_back([&, caller] {
      for (int run = 0; run < 50; ++run) failed[static_cast<std::size_t>(caller)] += workload.step(caller) ? 0 : 1;
    });
  for (auto& thread : threads) thread.join();
  return failed;
}

TEST_F(OrtWorkload, callers_run_side_by_side_with_sessions_of_their_own) {
  auto trial = spec(relu_model(), one_thread().with("parallel_sessions", 3));
  trial.workload.shapes = {{{"x", {8, 4}}}};
  const auto made = workload(trial);
  ASSERT_TRUE(made->prepare());
  EXPECT_EQ(failures_side_by_side(*made), (std::vector<int>{0, 0, 0}));
}

TEST_F(OrtWorkload, threads_share_the_sessions_that_they_run) {
  const auto threads_with = [&](const schema::Configuration& more) {
    auto configuration = one_thread().with("intra_op_num_threads", 3);
    for (const auto& [key, value] : more.values()) configuration.set(key, value);
    auto trial = spec(relu_model(), configuration);
    trial.workload.shapes = {{{"x", {8, 4}}}};
    const auto made = workload(trial);
    EXPECT_TRUE(made->prepare());
    EXPECT_EQ(made->effective_settings().at("intra_op_num_threads"), "3") << "of each session";
    EXPECT_EQ(failures_side_by_side(*made), std::vector<int>(static_cast<std::size_t>(made->concurrency()), 0));
    const auto outputs = made->outputs();
    EXPECT_TRUE(outputs && !outputs->empty());
    // The runtime starts two threads a session.
    const auto all = std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
    return std::pair(made->concurrency(), static_cast<int>(all));
  };
  const auto [one_caller, alone] = threads_with({});
  const auto [concurrency, shared] = threads_with({{"parallel_sessions", 2}, {"concurrent_runs", 3}});
  EXPECT_EQ(one_caller, 1);
  EXPECT_EQ(concurrency, 6);
  EXPECT_EQ(shared, alone + 2) << "two sessions, not six";
}

TEST_F(OrtWorkload, outputs_whose_shape_depends_on_the_data_and_sequences_run_again_and_again) {
  const auto made = workload(spec(TinyOnnx()
                                      .input("x", 9, {"6"})
                                      .output("at", 7, {"1", "k"})
                                      .sequence_output("parts", 7)
                                      .node("NonZero", {"x"}, {"at"})
                                      .node("SequenceConstruct", {"at", "at"}, {"parts"}),
                                  one_thread()));
  ASSERT_TRUE(made->prepare());
  for (int run = 0; run < 5; ++run) ASSERT_TRUE(made->step(0)) << made->last_error(0).message;
  const auto outputs = made->outputs().value();
  ASSERT_EQ(outputs.size(), 6U);
  EXPECT_EQ(outputs[1].name, "parts[0]");
  EXPECT_EQ(outputs[0].bytes, outputs[2].bytes);
}

TEST_F(OrtWorkload, an_output_of_another_shape_than_the_model_declares_runs_again_and_again) {
  const auto made = workload(
      spec(TinyOnnx().input("x", 9, {"6"}).output("at", 7, {"1", "77"}).node("NonZero", {"x"}, {"at"}), one_thread()));
  ASSERT_TRUE(made->prepare());
  for (int run = 0; run < 5; ++run) ASSERT_TRUE(made->step(0)) << made->last_error(0).message;
  EXPECT_EQ(made->outputs().value().size(), 2U);
}

TEST_F(OrtWorkload, text_outputs_are_kept_element_by_element) {
  const auto made = workload(spec(TinyOnnx()
                                      .input("x", 7, {"2"})
                                      .output("s", 8, {"2"})
                                      .node("Cast", {"x"}, {"s"}, {TinyOnnx::int_attribute("to", 8)}),
                                  one_thread()));
  ASSERT_TRUE(made->prepare());
  for (int run = 0; run < 3; ++run) ASSERT_TRUE(made->step(0));
  const auto outputs = made->outputs().value();
  EXPECT_EQ(outputs[0].element_type, "string");
  ASSERT_EQ(outputs[0].bytes.size(), 4U);
  EXPECT_EQ(outputs[0].bytes[1], '\0');
}

TEST_F(OrtWorkload, outputs_that_the_runtime_allocates_go_with_the_workload) {
  if (RL_UNDER_SANITIZER) GTEST_SKIP() << "a sanitizer's allocator keeps no such account";
  const auto trial = spec(TinyOnnx()
                              .input("x", 7, {"2"})
                              .output("s", 8, {"2"})
                              .node("Cast", {"x"}, {"s"}, {TinyOnnx::int_attribute("to", 8)}),
                          one_thread());
  const auto run = [&] {
    const auto made = workload(trial);
    ASSERT_TRUE(made->prepare());
    for (int step = 0; step < 3; ++step) ASSERT_TRUE(made->step(0));
  };
  const auto allocated = [] {
    const auto heap = ::mallinfo2();
    return static_cast<double>(heap.uordblks + heap.hblkhd) / (1 << 20);
  };
  run();
  const double before = allocated();
  for (int i = 0; i < 20; ++i) run();
  EXPECT_LT(allocated() - before, 4) << "MiB: a value that is kept keeps its session's arena, 1 MiB";
}

TEST_F(OrtWorkload, half_inputs_and_outputs_work) {
  const auto made = workload(
      spec(TinyOnnx().input("x", 10, {"8"}).output("y", 10, {"8"}).node("Neg", {"x"}, {"h"}).node("Neg", {"h"}, {"y"}),
           one_thread()));
  const auto prepared = made->prepare();
  if (!prepared) {  // Neg has no half kernel in some versions: then the class must be right
    EXPECT_EQ(prepared.error().code, ErrorCode::unsupported) << prepared.error().message;
    return;
  }
  EXPECT_EQ(made->outputs().value()[0].bytes.size(), 16U);
}

TEST_F(OrtWorkload, what_was_set_is_read_back) {
  auto trial =
      spec(relu_model(), {{"intra_op_num_threads", 3}, {"intra_op_allow_spinning", false}, {"dynamic_block_base", 4}});
  trial.workload.shapes = {{{"x", {1, 4}}}};
  const auto made = workload(trial);
  ASSERT_TRUE(made->prepare());
  const auto settings = made->effective_settings();
  EXPECT_EQ(settings.at("intra_op_num_threads"), "3");
  EXPECT_EQ(settings.at("intra_op_allow_spinning"), "0");
  EXPECT_EQ(settings.at("dynamic_block_base"), "4");
}

TEST_F(OrtWorkload, the_files_that_ran_are_read_from_the_process) {
  auto trial = spec(relu_model(), one_thread());
  trial.workload.shapes = {{{"x", {1, 4}}}};
  const auto made = workload(trial);
  ASSERT_TRUE(made->prepare());
  const auto ran = made->ran_on();
  const auto library = OrtLibrary::open("", test_search());
  ASSERT_TRUE(library);
  const auto file = std::filesystem::canonical(library->path()).string();
  EXPECT_NE(std::find(ran.libraries.begin(), ran.libraries.end(), file), ran.libraries.end());
  EXPECT_TRUE(ran.nodes.empty()) << "the CPU has them all";
}

TEST_F(OrtWorkload, an_npy_file_feeds_an_input_and_is_repeated_for_a_batch) {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 4), }";
  header.resize(117, ' ');
  header += '\n';
  const float row[] = {1, 2, 3, 4};
  std::string bytes = "\x93NUMPY";
  bytes += std::string("\x01\x00", 2) + static_cast<char>(header.size()) + std::string(1, '\0') + header;
  bytes.append(reinterpret_cast<const char*>(row), sizeof row);
  auto trial = spec(relu_model(), one_thread().with("batch_size", 2));
  trial.workload.shapes = {{{"x", {1, 4}}}};
  trial.workload.input_files = {{"x", folder_.write("x.npy", bytes).string(), ""}};
  const auto made = workload(trial);
  const auto prepared = made->prepare();
  ASSERT_TRUE(prepared) << prepared.error().message;
  EXPECT_EQ(floats_of(made->outputs().value()[0]), (std::vector<float>{1, 2, 3, 4, 1, 2, 3, 4}));
  trial.workload.shapes = {{{"x", {3, 4}}}};
  trial.workload.input_files[0].name = "z";
  EXPECT_TRUE(mentions(failure(trial), "no such input"));
}

TEST_F(OrtWorkload, a_missing_model_is_not_found) {
  schema::TrialSpec trial;
  trial.workload.location = (folder_ / "none.onnx").string();
  const auto error = failure(trial);
  EXPECT_EQ(error.code, ErrorCode::not_found) << error.message;
  EXPECT_TRUE(mentions(error, "none.onnx"));
}

TEST_F(OrtWorkload, rubbish_an_empty_file_and_a_cut_model_are_corrupt) {
  schema::TrialSpec trial;
  const auto whole = relu_model().bytes();
  for (const auto& bytes : {std::string("this is no model"), std::string(), whole.substr(0, whole.size() / 2)}) {
    trial.workload.location = folder_.write("bad.onnx", bytes).string();
    const auto error = failure(trial);
    EXPECT_EQ(error.code, ErrorCode::corrupt) << bytes.size() << ": " << error.message;
  }
}

TEST_F(OrtWorkload, a_graph_that_breaks_its_own_types_is_corrupt) {
  const auto error =
      failure(spec(TinyOnnx().input("x", 1, {"2"}).output("y", 1, {"2"}).node("Add", {"x", "nowhere"}, {"y"})));
  EXPECT_EQ(error.code, ErrorCode::corrupt) << error.message;
}

TEST_F(OrtWorkload, an_unknown_operator_is_unsupported_and_named) {
  const auto error =
      failure(spec(TinyOnnx().input("x", 1, {"2"}).output("y", 1, {"2"}).node("Frobnicate", {"x"}, {"y"})));
  EXPECT_EQ(error.code, ErrorCode::unsupported) << error.message;
  EXPECT_TRUE(mentions(error, "Frobnicate"));
  const auto custom = failure(
      spec(TinyOnnx().input("x", 1, {"2"}).output("y", 1, {"2"}).node("Frobnicate", {"x"}, {"y"}, {}, "com.example")));
  EXPECT_EQ(custom.code, ErrorCode::unsupported) << custom.message;
  EXPECT_TRUE(mentions(custom, "Frobnicate"));
}

TEST_F(OrtWorkload, an_operator_without_a_kernel_for_the_type_is_unsupported_and_named) {
  const auto error = failure(spec(TinyOnnx()
                                      .input("x", 14, {"2"})
                                      .output("y", 14, {"2"})
                                      .node("Identity", {"x"}, {"h"})
                                      .node("Neg", {"h"}, {"y"})));
  EXPECT_NE(error.code, ErrorCode::internal) << error.message;
  const auto no_kernel = failure(spec(TinyOnnx()
                                          .input("x", 16, {"2"})
                                          .output("y", 16, {"2"})
                                          .node("Acosh", {"x"}, {"h"})
                                          .node("Sinh", {"h"}, {"y"})
                                          .opset(22)));
  EXPECT_EQ(no_kernel.code, ErrorCode::unsupported) << no_kernel.message;
  EXPECT_TRUE(mentions(no_kernel, "Acosh"));
}

TEST_F(OrtWorkload, a_future_opset_or_ir_version_is_unsupported) {
  const auto opset = failure(spec(relu_model().opset(999)));
  EXPECT_EQ(opset.code, ErrorCode::unsupported) << opset.message;
  EXPECT_TRUE(mentions(opset, "999"));
  const auto version = failure(spec(relu_model().ir_version(999)));
  EXPECT_EQ(version.code, ErrorCode::unsupported) << version.message;
}

TEST_F(OrtWorkload, memory_that_cannot_be_had_is_out_of_memory) {
  if (RL_UNDER_SANITIZER) GTEST_SKIP() << "sanitizers end the program where an allocator would throw";
  auto trial =
      spec(TinyOnnx().input("shape", 7, {"2"}).output("y", 1, {"a", "b"}).node("ConstantOfShape", {"shape"}, {"y"}),
           one_thread());
  // 2^22 x 2^22 floats: 64 TiB.
  std::string header = "{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }";
  header.resize(117, ' ');
  header += '\n';
  const std::int64_t shape[] = {std::int64_t{1} << 22, std::int64_t{1} << 22};
  std::string bytes = "\x93NUMPY";
  bytes += std::string("\x01\x00", 2) + static_cast<char>(header.size()) + std::string(1, '\0') + header;
  bytes.append(reinterpret_cast<const char*>(shape), sizeof shape);
  trial.workload.input_files = {{"shape", folder_.write("shape.npy", bytes).string(), ""}};
  const auto error = failure(trial);
  EXPECT_EQ(error.code, ErrorCode::out_of_memory) << error.message;
}

TEST_F(OrtWorkload, illegal_settings_are_invalid_and_named) {
  const auto value = failure(spec(relu_model(), {{"execution_mode", "sideways"}}));
  EXPECT_EQ(value.code, ErrorCode::invalid_argument);
  EXPECT_TRUE(mentions(value, "execution_mode=sideways"));
  const auto key = failure(spec(relu_model(), {{"intra_op_num_thread", 1}}));
  EXPECT_EQ(key.code, ErrorCode::invalid_argument);
  EXPECT_TRUE(mentions(key, "intra_op_num_threads"));
  const auto affinity = failure(spec(relu_model(), {{"intra_op_num_threads", 3}, {"intra_op_thread_affinities", "1"}}));
  EXPECT_EQ(affinity.code, ErrorCode::invalid_argument) << affinity.message;
}

TEST_F(OrtWorkload, an_unknown_or_absent_provider_is_refused_by_name) {
  auto trial = spec(relu_model());
  trial.provider = "cudda";
  auto error = failure(trial);
  EXPECT_EQ(error.code, ErrorCode::invalid_argument);
  EXPECT_TRUE(mentions(error, "did you mean \"cuda\""));
  trial.provider = "cuda";
  error = failure(trial);
  EXPECT_TRUE(error.code == ErrorCode::unavailable || error.code == ErrorCode::unsupported) << error.message;
}

TEST_F(OrtWorkload, tensorrts_graph_is_not_replayed_for_another_shape) {
  auto trial = spec(relu_model(), {{"trt_cuda_graph_enable", true}});
  trial.provider = "tensorrt";
  trial.workload.shapes = {{{"x", {1, 4}}}, {{"x", {5, 4}}}};
  const auto error = failure(trial);
  EXPECT_EQ(error.code, ErrorCode::unsupported) << error.message;
  EXPECT_TRUE(mentions(error, "trt_cuda_graph_enable=true"));
  EXPECT_TRUE(mentions(error, "the mix has 2"));
}

TEST_F(OrtWorkload, shapes_that_do_not_fit_are_invalid_and_named) {
  auto trial = spec(relu_model());
  EXPECT_TRUE(mentions(failure(trial), "input \"x\" has dynamic dimensions"));
  trial.workload.shapes = {{{"x", {1, 5}}}};
  auto error = failure(trial);
  EXPECT_EQ(error.code, ErrorCode::invalid_argument);
  EXPECT_TRUE(mentions(error, "--shape x:1x5"));
  trial.workload.shapes = {{{"x", {4}}}};
  EXPECT_TRUE(mentions(failure(trial), "does not fit"));
  trial.workload.shapes = {{{"y", {1, 4}}}};
  EXPECT_TRUE(mentions(failure(trial), "no such input"));
  auto fixed = spec(TinyOnnx().input("x", 1, {"1", "4"}).output("y", 1, {"1", "4"}).node("Relu", {"x"}, {"y"}),
                    {{"batch_size", 4}});
  error = failure(fixed);
  EXPECT_EQ(error.code, ErrorCode::invalid_argument);
  EXPECT_TRUE(mentions(error, "batch_size=4"));
}

TEST_F(OrtWorkload, text_and_sequence_inputs_are_refused_clearly) {
  const auto text = failure(spec(TinyOnnx().input("s", 8, {"2"}).output("t", 8, {"2"}).node("Identity", {"s"}, {"t"})));
  EXPECT_EQ(text.code, ErrorCode::unsupported) << text.message;
  EXPECT_TRUE(mentions(text, "string"));
  const auto sequence =
      failure(spec(TinyOnnx().sequence_input("s", 1).output("n", 7, {}).node("SequenceLength", {"s"}, {"n"})));
  EXPECT_EQ(sequence.code, ErrorCode::unsupported) << sequence.message;
}

TEST_F(OrtWorkload, a_failing_run_is_reported_by_the_caller) {
  // Reshape to a shape that the second member of the mix cannot take.
  auto trial =
      spec(TinyOnnx().input("a", 1, {"n"}).input("b", 1, {"m"}).output("y", 1, {"k"}).node("Add", {"a", "b"}, {"y"}),
           one_thread());
  trial.workload.shapes = {{{"a", {4}}, {"b", {4}}}, {{"a", {4}}, {"b", {3}}}};
  const auto made = workload(trial);
  ASSERT_TRUE(made->prepare());
  ASSERT_TRUE(made->step(0));
  ASSERT_FALSE(made->step(0));
  EXPECT_FALSE(made->last_error(0).message.empty());
  EXPECT_EQ(made->last_error(0).message.find('\n'), std::string::npos);
  EXPECT_TRUE(mentions(made->last_error(0), "Add"));
}

TEST_F(OrtWorkload, a_library_of_another_version_than_the_trial_s_is_refused) {
  auto trial = spec(relu_model());
  trial.runtime.version = "1.2.3";
  const auto error = failure(trial);
  EXPECT_EQ(error.code, ErrorCode::unavailable);
  EXPECT_TRUE(mentions(error, "1.2.3"));
}

TEST_F(OrtWorkload, many_workloads_in_one_process_do_not_leak_threads_or_logs_into_each_other) {
  EXPECT_EQ(failure(spec(relu_model().opset(999))).code, ErrorCode::unsupported);
  auto trial = spec(relu_model(), one_thread());
  trial.workload.shapes = {{{"x", {1, 4}}}};
  for (int round = 0; round < 5; ++round) {
    const auto made = workload(trial);
    ASSERT_TRUE(made->prepare());
    ASSERT_TRUE(made->step(0));
    EXPECT_TRUE(made->flags().empty()) << fakes::text_of(made->flags()[0].message);
  }
}

}  // namespace
}  // namespace ridgeline::workload
