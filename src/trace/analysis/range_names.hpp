// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "tracefile/events.hpp"

#include "trace/analysis/nesting.hpp"
#include "trace/trace.hpp"

namespace ridgeline::trace {

/// What names of ranges mean: those of the PyTorch profiler and of ONNX Runtime's; and of work that is no kernel.
inline constexpr std::string_view kModelRun = "model_run";
/// Of a CUDA graph that was recorded as a whole; its number follows, where the file has one.
inline constexpr std::string_view kGraphLaunch = "CUDA graph";

/// "ProfilerStep#6".
[[nodiscard]] bool is_profiler_step(std::string_view name);
/// "nn.Module: Conv2d_3", of a Python range.
[[nodiscard]] bool is_module_call(std::string_view name);
/// "Conv2d_3" of it; of "nn.Module: act (GELU) @ net.py(57): forward" it is "act (GELU)".
[[nodiscard]] std::string_view module_name(std::string_view name);
/// "net.py(57): forward" of it: the line that calls the module; "" where the recorder gave none.
[[nodiscard]] std::string_view module_line(std::string_view name);
/// "run of vit.onnx", of a Python range around a run of a session of ONNX Runtime.
[[nodiscard]] bool is_session_run(std::string_view name);
/// Of a module's path.
[[nodiscard]] bool is_within_session_run(std::string_view path);
/// "train.py(41): step", of a Python range.
[[nodiscard]] bool is_python_line(std::string_view name);
/// The same, of a file that is no part of torch: a line of the program, or of a library that it calls.
[[nodiscard]] bool is_program_line(std::string_view name);
/// Of a module's path: "## forward ##" is "forward".
[[nodiscard]] std::string annotation_name(std::string_view name);
/// "ncclDevKernel_AllReduce_Sum_f32_RING_LL", of a kernel of NCCL, RCCL or of its like.
[[nodiscard]] bool is_collective_kernel(std::string_view name);
/// "nccl:all_reduce", "c10d::allreduce_", of a range around the launch of communication.
[[nodiscard]] bool is_collective_range(std::string_view name);
/// "CUDA graph 12", of what stands among the kernels.
[[nodiscard]] bool is_graph_launch(std::string_view name);
/// An operation of the backward pass, by its forward thread or its name; or the whole pass.
[[nodiscard]] bool is_backward(const Trace& trace, Place range);

}  // namespace ridgeline::trace
