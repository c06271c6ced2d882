// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/text.hpp"
#include "fakes/words.hpp"
#include "unit/trace/planted_trace.hpp"

namespace ridgeline::trace {
namespace {

/// Ten steps of 100 us. Each launches two kernels of 20 us at its start, 1 us apart on the GPU, the second queued
/// behind the first; the GPU is idle from 46 us on until the next step's first kernel begins, 5 us after its launch.
/// What the thread does in between is the test's.
class PlantedIdle : public PlantedTrace {
 protected:
  static constexpr std::int64_t kStep = 100'000;
  static constexpr std::int64_t kSteps = 10;

  template <typename Body>
  void steps(Body body) {
    annotation("ProfilerStep#0", 5000, 9 * kStep + 46'000);  // that the time is of
    for (std::int64_t step = 0; step < kSteps; ++step) {
      const auto t = step * kStep;
      launch("gemm", t, t + 5000, t + 25'000);
      launch("gemm", t + 1500, t + 26'000, t + 46'000);
      body(t);
    }
  }
  /// The nine gaps are 105 - 46 = 59 us each, and the one between queued kernels is 1 us.
  static constexpr std::int64_t kGaps = 9 * 59'000;
  static constexpr std::int64_t kSaving = 9 * (59'000 - 1000);
  static constexpr std::int64_t kSpan = 9 * kStep + 46'000 - 5000;

  /// What all causes share: the sum of the gaps, and how the saving follows from it.
  void expect_gaps(const FindingInWords* finding, std::string_view title) {
    ASSERT_NE(finding, nullptr);
    EXPECT_EQ(finding->title, "56 % of the time the GPU waits " + std::string(title)) << "531 of 941 us";
    EXPECT_EQ(finding->saving_ns, kSaving);
    EXPECT_NEAR(finding->saving_share, static_cast<double>(kSaving) / kSpan, 1e-9);
    EXPECT_EQ(finding->computed, "the gaps' total, minus 1.00 µs each: the median gap between queued kernels");
    ASSERT_GE(finding->evidence.size(), 2U);
    EXPECT_EQ(finding->evidence[0], "9 gaps, 531 µs in total, 59.0 µs each on average");
  }
  void expect_only(std::string_view rule) {
    for (const auto& one : findings()) EXPECT_EQ(one.rule, rule) << one.title;
  }
};

TEST_F(PlantedIdle, item_of_a_loss_in_each_step) {
  steps([&](std::int64_t t) {
    range(RangeKind::python, "train.py(41): step", t + 3000, t + 60'000);
    operation("aten::item", t + 4000, t + 48'000);
    operation("aten::_local_scalar_dense", t + 4100, t + 47'900);
    call("cudaStreamSynchronize", t + 4200, t + 47'000, 0);
  });
  const auto* finding = find("sync");
  expect_gaps(finding, "after the host synchronized with it");
  EXPECT_EQ(finding->evidence[1], "531 µs in 9 gaps due to aten::item, called from train.py(41): step");
  EXPECT_EQ(finding->module, "train.py(41): step");
  expect_code(*finding, {"loss.detach()", "not loss.item()", "if step % 100 == 0"});
  expect_only("sync");
}

TEST_F(PlantedIdle, item_of_several_lines_is_told_by_line) {
  steps([&](std::int64_t t) {
    const bool first = t < 3 * kStep;
    range(RangeKind::python, first ? "train.py(41): step" : "train.py(57): log", t + 3000, t + 60'000);
    operation("aten::item", t + 4000, t + 48'000);
  });
  const auto* finding = find("sync");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->evidence, (Evidence{"9 gaps, 531 µs in total, 59.0 µs each on average",
                                         "354 µs in 6 gaps due to aten::item, called from train.py(57): log",
                                         "177 µs in 3 gaps due to aten::item, called from train.py(41): step"}));
  EXPECT_EQ(finding->module, "train.py(57): log");
}

TEST_F(PlantedIdle, synchronizations_of_a_recording_without_ranges) {
  steps([&](std::int64_t t) { call("cudaDeviceSynchronize", t + 4200, t + 47'000, 0); });
  const auto* finding = find("sync");
  expect_gaps(finding, "after the host synchronized with it");
  EXPECT_EQ(finding->evidence[1], "531 µs in 9 gaps due to cudaDeviceSynchronize");
  EXPECT_EQ(finding->module, "") << "nothing tells";
}

TEST_F(PlantedIdle, a_loader_that_is_slower_than_the_gpu) {
  const std::string next = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__";
  steps([&](std::int64_t t) { annotation(next, t + 48'000, t + 98'000); });
  const auto* finding = find("loader-bound");
  expect_gaps(finding, "for the next batch");
  EXPECT_EQ(finding->evidence[1], "531 µs in 9 gaps due to " + next);
  EXPECT_EQ(finding->module, next) << "a row of the module tree";
  expect_code(*finding, {"DataLoader(", "num_workers=", "pin_memory=True", "prefetch_factor="});
  EXPECT_EQ(finding->advice.find("training"), std::string::npos) << "inference loads batches too";
  expect_only("loader-bound");
}

TEST_F(PlantedIdle, a_loader_with_python_lines) {
  steps([&](std::int64_t t) {
    range(RangeKind::python, "train.py(30): epoch", t + 47'000, t + 99'000);
    range(RangeKind::python, "torch/utils/data/dataloader.py(631): __next__", t + 48'000, t + 98'000);
  });
  const auto* finding = find("loader-bound");
  expect_gaps(finding, "for the next batch");
  EXPECT_EQ(finding->evidence[1],
            "531 µs in 9 gaps due to torch/utils/data/dataloader.py(631): __next__, called from train.py(30): epoch");
  EXPECT_EQ(finding->module, "train.py(30): epoch");
}

TEST_F(PlantedIdle, memory_that_is_allocated_in_each_step) {
  steps([&](std::int64_t t) {
    module("Net_0", t + 47'000, t + 99'000);
    operation("aten::empty", t + 48'000, t + 98'000);
    call("cudaMalloc", t + 49'000, t + 97'000, 0);
  });
  const auto* finding = find("allocation");
  expect_gaps(finding, "while memory is allocated or freed");
  EXPECT_EQ(finding->evidence[1], "531 µs in 9 gaps due to cudaMalloc, called from Net_0/aten::empty");
  EXPECT_EQ(finding->module, "Net_0/aten::empty");
  expect_code(*finding, {"PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"});
  EXPECT_NE(finding->advice.find("empty_cache()"), std::string::npos);
  expect_only("allocation");
}

TEST_F(PlantedIdle, code_that_is_loaded_or_compiled_in_each_step) {
  steps([&](std::int64_t t) {
    const bool loads = t < 6 * kStep;
    if (loads) call("cuModuleLoadData", t + 48'000, t + 98'000, 0);
    range(RangeKind::python, "serve.py(12): answer", t + 47'000, t + 99'000);
    if (!loads) range(RangeKind::python, "torch/_dynamo/convert_frame.py(1200): __call__", t + 48'000, t + 98'000);
  });
  const auto* finding = find("compilation");
  expect_gaps(finding, "while code is compiled or loaded");
  EXPECT_EQ(finding->evidence[1], "354 µs in 6 gaps due to cuModuleLoadData, called from serve.py(12): answer");
  EXPECT_EQ(finding->evidence[2],
            "177 µs in 3 gaps due to torch/_dynamo/convert_frame.py(1200): __call__, called from serve.py(12): answer");
  EXPECT_EQ(finding->module, "serve.py(12): answer");
  expect_code(*finding, {"TORCHINDUCTOR_CACHE_DIR", "CUDA_MODULE_LOADING=EAGER"});
  expect_only("compilation");
}

TEST_F(PlantedIdle, launches_that_come_too_late) {
  steps([&](std::int64_t t) { module("Net_0", t - 10'000, t + 3000); });
  const auto* finding = find("launch-bound");
  expect_gaps(finding, "for launches");
  EXPECT_EQ(finding->evidence[1], "531 µs in 9 gaps before work of Net_0");
  EXPECT_EQ(finding->module, "Net_0");
  expect_code(*finding, {"torch.compile(model, mode=\"reduce-overhead\")"});
  expect_only("launch-bound");
}

TEST_F(PlantedIdle, graphs_that_come_too_late_are_graphs_already) {
  annotation("ProfilerStep#0", 5000, 9 * kStep + 46'000);
  for (std::int64_t step = 0; step < kSteps; ++step) {
    const auto t = step * kStep;
    call("cudaGraphLaunch", t, t + 2000, step + 1);
    kernel("CUDA graph 12", t + 5000, t + 46'000, step + 1);
  }
  const auto* finding = find("launch-bound");
  ASSERT_NE(finding, nullptr);
  EXPECT_NE(finding->advice.find("already in CUDA graphs"), std::string::npos) << finding->advice;
  EXPECT_EQ(finding->code, "");
}

TEST_F(PlantedIdle, without_queued_kernels_the_whole_gaps_count) {
  for (std::int64_t i = 0; i < 10; ++i) launch("k", 100'000 * i, 100'000 * i + 5000, 100'000 * i + 25'000);
  const auto* finding = find("launch-bound");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->saving_ns, 9 * 80'000);
  EXPECT_EQ(finding->computed, "the gaps' total");
  EXPECT_NEAR(finding->saving_share, 720.0 / 925, 1e-6) << "from the first launch on";
}

/// Four gaps of 51 ms that a function of the user's fills.
class PlantedHostWork : public PlantedTrace {
 protected:
  static constexpr std::int64_t kMs = 1'000'000;
  void steps(std::string_view filler) {
    for (std::int64_t step = 0; step < 5; ++step) {
      const auto t = step * 60 * kMs;
      annotation("ProfilerStep#" + std::to_string(step), t, t + 60 * kMs);
      range(RangeKind::python, "train.py(10): step", t, t + 60 * kMs);
      if (!filler.empty()) range(RangeKind::python, filler, t, t + 50 * kMs);
      launch("gemm", t + 50 * kMs, t + 50 * kMs + 10'000, t + 59 * kMs);
    }
  }
};

TEST_F(PlantedHostWork, is_named_and_no_cuda_graph_is_advised) {
  steps("augment.py(5): augment_batch");
  EXPECT_EQ(find("launch-bound"), nullptr);
  const auto* finding = find("host-work");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->title, "85 % of the time the GPU waits while the host does other work");
  EXPECT_EQ(finding->evidence,
            (Evidence{"4 gaps, 204 ms in total, 51.0 ms each on average; 50.0 ms before the first work; 1.00 ms after "
                      "the last",
                      "204 ms in 4 gaps due to augment.py(5): augment_batch",
                      "50.0 ms before the first work due to augment.py(5): augment_batch",
                      "1.00 ms after the last due to train.py(10): step"}));
  EXPECT_EQ(finding->module, "augment.py(5): augment_batch");
  EXPECT_EQ(finding->saving_ns, 5 * (9 * kMs - 10'000)) << "as long as the GPU works";
  EXPECT_NE(finding->computed.find("at most"), std::string::npos);
  EXPECT_EQ(finding->code.find("reduce-overhead"), std::string::npos);
}

TEST_F(PlantedHostWork, the_table_says_where_the_program_was) {
  steps("augment.py(5): augment_batch");
  const AnalysedTrace analysed(trace);
  const auto idle = tables_of(analysed).devices.front().idle.front();
  EXPECT_EQ(idle.cause, schema::IdleCause::host_work);
  EXPECT_EQ(idle.gaps, 4);
  EXPECT_EQ(idle.places.front().first, "augment.py(5): augment_batch");
}

TEST_F(PlantedHostWork, what_no_event_shows_is_missing_and_no_advice) {
  for (std::int64_t i = 0; i < 5; ++i) {
    annotation("ProfilerStep#" + std::to_string(i), 60 * kMs * i, 60 * kMs * (i + 1));
    launch("gemm", 60 * kMs * i, 60 * kMs * i + 10'000, 60 * kMs * i + 9 * kMs);
  }
  EXPECT_EQ(find("host-work"), nullptr) << "a step names no work";
  EXPECT_EQ(find("launch-bound"), nullptr);
  const AnalysedTrace analysed(trace);
  const auto tables = tables_of(analysed);
  EXPECT_EQ(tables.devices.front().idle.front().cause, schema::IdleCause::host_unrecorded);
  const auto lines = fakes::texts_of(tables.missing);
  EXPECT_NE(std::find(lines.begin(), lines.end(),
                      "no event of the launching thread fills 255 ms (85 % of the time) in which the GPU waits for it: "
                      "torch.profiler.profile(with_stack=True) or NVTX ranges record what it does then"),
            lines.end())
      << base::listed(lines);
}

TEST_F(PlantedHostWork, no_step_is_shorter_than_the_busiest_gpu_works) {
  for (std::int64_t i = 0; i < 5; ++i) {
    const auto t = i * 10 * kMs;
    annotation("ProfilerStep#" + std::to_string(i), t, t + 10 * kMs);
    range(RangeKind::python, "train.py(4): prepare", t, t + kMs);
    launch("gemm", t + kMs, t + kMs + 10'000, t + 10 * kMs);
    call("cudaLaunchKernel", t + kMs + 10'000, t + kMs + 11'000, 500 + i);
    kernel("small", t + kMs + 20'000, t + 2 * kMs, 500 + i);
    trace.kernels.lane.back() = trace.gpu_lane({1, 1, 1, 7});
  }
  const auto* finding = find("host-work");
  ASSERT_NE(finding, nullptr);
  EXPECT_LE(finding->saving_ns, 5 * kMs + 50'000) << "GPU 1 waits for 45 ms, which GPU 0 needs";
}

TEST_F(PlantedHostWork, pinned_memory_is_no_matter_of_the_gpus_allocator) {
  for (std::int64_t step = 0; step < 6; ++step) {
    const auto t = step * 10 * kMs;
    annotation("ProfilerStep#" + std::to_string(step), t, t + 10 * kMs);
    call("cudaHostAlloc", t + 100'000, t + 5 * kMs, 900 + step);
    launch("gemm", t + 5 * kMs, t + 5 * kMs + 10'000, t + 10 * kMs);
  }
  const auto* finding = find("allocation");
  ASSERT_NE(finding, nullptr);
  EXPECT_NE(finding->advice.find("pinned buffers once"), std::string::npos) << finding->advice;
  EXPECT_EQ(finding->code.find("CUDA_ALLOC_CONF"), std::string::npos);
}

TEST_F(PlantedHostWork, waits_of_queued_work_are_a_finding_of_their_own) {
  annotation("ProfilerStep#0", 10 * kMs, 74 * kMs);
  for (std::int64_t i = 0; i < 20; ++i) launch("k", 2000 * i, 10 * kMs + 10'000 * i, 10 * kMs + 10'000 * i + 9000);
  launch("behind", 100'000, 73'199'000, 74 * kMs);
  const auto* finding = find("queued-wait");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->title, "98 % of the time the GPU waits although its next work is queued");
  EXPECT_EQ(finding->evidence.front(), "1 gap, 63.0 ms in total, 63.0 ms each on average");
  EXPECT_EQ(finding->saving_ns, 63 * kMs - 1000) << "less what the GPU takes between two kernels";
  EXPECT_FALSE(finding->advice.empty());
}

TEST_F(PlantedHostWork, a_wait_names_the_work_of_another_gpu_that_it_ends_with) {
  annotation("ProfilerStep#0", 0, 20 * kMs);
  const auto queued = [&] {
    launch("first", 0, 10'000, kMs);
    launch("behind", 2000, 11 * kMs, 12 * kMs);
  };
  queued();
  kernel("gemm_of_another", 20'000, 11 * kMs - 5000, 0, 9);
  trace.kernels.lane.back() = trace.gpu_lane({1, 1, 1, 9});
  const auto* finding = find("queued-wait");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->evidence.at(1), "10.0 ms in 1 gap until gemm_of_another ends on GPU 1, stream 9");
  trace.kernels.duration_ns.back() -= kMs;
  EXPECT_EQ(find("queued-wait")->evidence.size(), 1U) << "it ended long before";
}

TEST_F(PlantedHostWork, a_wait_names_the_call_that_let_the_stream_wait) {
  annotation("ProfilerStep#0", 0, 20 * kMs);
  launch("first", 0, 10'000, kMs);
  call("cudaStreamWaitEvent", 1200, 1800, 0);
  launch("behind", 2000, 11 * kMs, 12 * kMs);
  EXPECT_EQ(find("queued-wait")->evidence.at(1), "10.0 ms in 1 gap after a call of cudaStreamWaitEvent");
}

/// What comes once, at the first convolution, is no advice for the steps after it.
TEST_F(PlantedHostWork, first_calls_are_no_advice_but_a_warm_up_that_is_missing) {
  for (std::int64_t step = 0; step < 5; ++step) {
    const auto t = step * 10 * kMs;
    annotation("ProfilerStep#" + std::to_string(step), t, t + 10 * kMs);
    launch("first", t, t + 10'000, t + kMs);
    if (step == 0) call("cudaFree", kMs + 1000, 7 * kMs, 999);
    launch("conv", t + (step == 0 ? 7 * kMs : kMs / 2), t + 7 * kMs + 10'000, t + 9'990'000);
  }
  EXPECT_EQ(find("allocation"), nullptr) << "in the first half of the steps alone";
  const AnalysedTrace analysed(trace);
  const auto tables = tables_of(analysed);
  ASSERT_FALSE(tables.missing.empty());
  EXPECT_NE(fakes::text_of(tables.missing.back())
                .find("no warm-up before it: the GPU waits 6.01 ms for first calls (cudaFree)"),
            std::string::npos)
      << fakes::text_of(tables.missing.back());
  for (std::int64_t step = 1; step < 5; ++step) {
    const auto t = step * 10 * kMs;
    call("cudaFree", t + kMs + 1000, t + 6'900'000, 1000 + step);
    launch("conv", t + 6'900'000, t + 6'910'000, t + 7 * kMs);
  }
  const auto* finding = find("allocation");
  ASSERT_NE(finding, nullptr) << "now it comes in each step";
  EXPECT_NE(finding->evidence.at(1).find("due to cudaFree"), std::string::npos);
  const AnalysedTrace again(trace);
  for (const auto& line : tables_of(again).missing) EXPECT_FALSE(line.is("trace.no_warm_up"));
}

/// Advice is of the framework that ran.
TEST_F(PlantedHostWork, a_cold_pass_without_steps_lacks_a_warm_up) {
  for (std::int64_t i = 0; i < 10; ++i) {
    const auto t = i * 20 * kMs;
    call("cudaLaunchKernel", t, t + 18 * kMs, 100 + i);
    kernel("kernel " + std::to_string(i), t + 18 * kMs, t + 20 * kMs, 100 + i);
  }
  EXPECT_EQ(find("compilation"), nullptr) << "each is loaded once";
  const auto missing = tables_of(AnalysedTrace(trace)).missing;
  EXPECT_TRUE(
      std::any_of(missing.begin(), missing.end(), [](const auto& line) { return line.is("trace.no_warm_up"); }));
}

TEST_F(PlantedHostWork, code_is_of_the_framework_that_ran) {
  const auto wait = [&] {
    for (std::int64_t i = 0; i < 10; ++i) launch("k", 100'000 * i, 100'000 * i + 5000, 100'000 * i + 25'000);
  };
  wait();
  expect_code(*find("launch-bound"), {"torch.compile", "ONNX Runtime"});  // nothing tells
  const auto of_onnx = annotation("model_run", 0, 1'000'000);
  EXPECT_EQ(find("launch-bound")->code.find("torch"), std::string::npos);
  expect_code(*find("launch-bound"), {"enable_cuda_graph"});
  trace.ranges.kind[of_onnx] = RangeKind::operation;
  trace.ranges.name[of_onnx] = trace.strings.id("aten::conv2d");
  EXPECT_EQ(find("launch-bound")->code.find("ONNX"), std::string::npos);
  expect_code(*find("launch-bound"), {"torch.compile"});
}

TEST_F(PlantedHostWork, code_within_a_session_is_of_onnx_runtime) {
  module("Net_0", 0, 1'000'000);
  range(RangeKind::python, "run of vit.onnx", 2'000'000, 3'000'000);
  for (std::int64_t i = 20; i < 30; ++i) launch("k", 100'000 * i, 100'000 * i + 5000, 100'000 * i + 25'000);
  launch("k", 10, 5000, 25'000);
  EXPECT_EQ(find("launch-bound")->module, "run of vit.onnx");
  EXPECT_EQ(find("launch-bound")->code.find("torch"), std::string::npos);
  expect_code(*find("launch-bound"), {"enable_cuda_graph"});
}

TEST_F(PlantedHostWork, steps_that_the_recorder_marks_are_not_of_torch) {
  for (std::int64_t i = 0; i < 10; ++i) {
    launch("k", 100'000 * i, 100'000 * i + 5000, 100'000 * i + 25'000);
    annotation("ProfilerStep#" + std::to_string(i), 100'000 * i, 100'000 * i + 90'000);
    range(RangeKind::python, "run of vit.onnx", 100'000 * i, 100'000 * i + 90'000);
  }
  trace.of_recorder = true;
  EXPECT_EQ(find("launch-bound")->code.find("torch"), std::string::npos);
}

/// The same program without each fault: the host is a step ahead, so that every kernel is queued when the one before it
/// ends, and what it does beside them costs nothing.
class CleanLoop : public PlantedTrace {
 protected:
  template <typename Body>
  void steps(Body body) {
    annotation("ProfilerStep#0", 150'000, 151'000);  // the time is that of the kernels
    for (std::int64_t step = 0; step < 10; ++step) {
      const auto t = step * 100'000;
      launch("gemm", t, t + 150'000, t + 249'000);
      body(t);
    }
  }
};

TEST_F(CleanLoop, results_that_stay_on_the_gpu) {
  steps([&](std::int64_t t) { operation("aten::detach", t + 4000, t + 5000); });
  EXPECT_TRUE(findings().empty());
}

TEST_F(CleanLoop, one_item_in_many_steps) {
  steps([](std::int64_t) {});
  operation("aten::item", 905'000, 1'150'000);
  launch("gemm", 1'152'000, 1'154'000, 1'253'000);
  EXPECT_EQ(find("sync"), nullptr) << "a gap of 5 us in 1103";
}

TEST_F(CleanLoop, a_loader_that_works_beside_the_gpu) {
  steps([&](std::int64_t t) {
    annotation("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", t + 5000, t + 90'000);
  });
  EXPECT_TRUE(findings().empty());
}

TEST_F(CleanLoop, memory_and_code_that_are_there_before_the_loop) {
  call("cudaMalloc", -90'000, -50'000, 0);
  call("cuModuleLoadData", -50'000, -1000, 0);
  steps([](std::int64_t) {});
  EXPECT_TRUE(findings().empty());
}

TEST_F(CleanLoop, gaps_below_three_percent) {
  for (int i = 0; i < 10; ++i) launch("k", 100'000 * i, 100'000 * i + 2000, 100'000 * i + 100'000);
  EXPECT_TRUE(findings().empty());
}

}  // namespace
}  // namespace ridgeline::trace
