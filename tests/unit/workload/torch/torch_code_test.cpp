// SPDX-License-Identifier: Apache-2.0
#include "workload/torch/torch_code.hpp"

#include <gtest/gtest.h>

#include "schema/catalog.hpp"
#include "workload/torch/torch_program.hpp"

namespace ridgeline::workload {
namespace {

std::string id_of(schema::DeviceKind device) {
  for (const auto& row : schema::torch_providers())
    if (row.device == device) return row.id;
  return {};
}

::testing::AssertionResult holds_text(const std::string& text, std::string_view part) {
  if (text.find(part) != std::string::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "no \"" << part << "\" in:\n" << text;
}

class TorchCode : public ::testing::Test {
 protected:
  TorchCode() {
    spec_.workload.location = "models/infer.py:build";
    spec_.workload.seed = 7;
    spec_.provider = id_of(schema::DeviceKind::cpu);
    model_.parameters = 10;
    model_.python_form.emplace();
  }
  std::string code(schema::Configuration configuration) {
    spec_.configuration = std::move(configuration);
    return torch_code(spec_, model_).python;
  }
  schema::TrialSpec spec_;
  schema::ModelDescription model_;
};

TEST_F(TorchCode, of_an_eager_model_is_its_call_under_the_grad_mode) {
  EXPECT_EQ(code({{"grad_mode", "inference_mode"}, {"torch_threads", 2}}), R"(import torch

model, inputs = build()  # yours
torch.set_num_threads(2)


def run(inputs):
    with torch.inference_mode():
        return model(inputs)


for _ in range(3):  # warm-up: the first calls are slower
    outputs = run(inputs)
)");
}

TEST_F(TorchCode, captures_one_graph_around_the_compiled_model) {
  spec_.provider = id_of(schema::DeviceKind::gpu);
  EXPECT_EQ(code({{"allow_tf32", true},
                  {"cudnn_benchmark", true},
                  {"compile_freezing", true},
                  {"cuda_graph", true},
                  {"grad_mode", "no_grad"},
                  {"torch_compile", "max-autotune"}}),
            R"(import torch
import torch._inductor.config

model, inputs = build()  # yours
torch.set_float32_matmul_precision("high")
torch.backends.cudnn.allow_tf32 = True
torch.backends.cudnn.benchmark = True
torch._inductor.config.freezing = True
model = torch.compile(model, mode="max-autotune-no-cudagraphs")


def call(inputs):
    with torch.no_grad():
        return model(inputs)


def capture(inputs):
    """A function that replays one CUDA graph of the call, for inputs of these shapes."""
    static = inputs.clone()
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):  # what compiles, allocates or chooses kernels must not do so during the capture
            call(static)
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        outputs = call(static)

    def replay(inputs):
        with torch.no_grad():
            static.copy_(inputs)
        graph.replay()
        return outputs

    return replay


run = capture(inputs)
for _ in range(3):  # warm-up, before the first request
    outputs = run(inputs)
# Set TORCHINDUCTOR_CACHE_DIR to a folder that stays on the server's disk: a restart then compiles little.
# Inputs of another shape compile again; call under the same grad mode, else that compiles again too.
# Outputs are valid until the next call: clone what you keep. One process, or one such graph, a stream.
)");
}

TEST_F(TorchCode, knows_every_setting) {
  spec_.provider = id_of(schema::DeviceKind::gpu);
  const auto bare = code({});
  for (const auto& param : schema::catalog()) {
    if (param.scope != schema::ParamScope::torch_option) continue;
    for (const auto& value : param.choices) {
      schema::Configuration alone{{param.key, value}};
      // Settings of the compiler say nothing where there is none.
      const bool of_compiler = param.key.starts_with("compile_");
      if (of_compiler) {
        EXPECT_EQ(code(alone), bare) << param.key;
        alone.set("torch_compile", "default");
      }
      const auto without = of_compiler ? code({{"torch_compile", "default"}}) : bare;
      if (value == param.default_value)
        EXPECT_EQ(code(alone), without) << param.key;
      else
        EXPECT_NE(code(alone), without) << param.key << "=" << value.to_text();
    }
  }
}

TEST_F(TorchCode, gives_each_setting_its_line) {
  spec_.provider = id_of(schema::DeviceKind::gpu);
  EXPECT_TRUE(
      holds_text(code({{"allow_tf32", false}}), "precision(\"highest\")\ntorch.backends.cudnn.allow_tf32 = False"));
  EXPECT_TRUE(
      holds_text(code({{"torch_compile", "reduce-overhead"}}), "torch.compile(model, mode=\"reduce-overhead\")"));
  EXPECT_TRUE(holds_text(code({{"torch_compile", "reduce-overhead"}}), "clone what you keep"));
  EXPECT_TRUE(holds_text(code({{"torch_compile", "default"}}), "model = torch.compile(model)\n"));
  EXPECT_TRUE(holds_text(code({{"sdpa_backend", "efficient"}, {"grad_mode", "no_grad"}}),
                         "with sdpa_kernel([SDPBackend.EFFICIENT_ATTENTION]), torch.no_grad():"));
  EXPECT_TRUE(holds_text(code({{"sdpa_backend", "math"}}), "from torch.nn.attention import SDPBackend, sdpa_kernel"));
  const auto autocast = code({{"torch_precision", "autocast_bf16"}, {"cuda_graph", true}});
  EXPECT_TRUE(holds_text(autocast, "with torch.autocast(\"cuda\", dtype=torch.bfloat16, cache_enabled=False):"));
  EXPECT_TRUE(holds_text(autocast, "return tree_map(full, model(inputs))"));
  const auto half = code({{"torch_precision", "fp16"}, {"channels_last", true}});
  EXPECT_TRUE(holds_text(half,
                         "model = model.to(torch.float16)\nmodel = model.to(memory_format=torch.channels_last)\n"
                         "inputs = converted(inputs)"));
  EXPECT_TRUE(holds_text(half, "return one.to(torch.float32)"));
  model_.inputs.push_back({"0", "bfloat16", {1}, {""}});
  EXPECT_TRUE(holds_text(code({{"torch_precision", "fp16"}}), "return one.to(torch.bfloat16)"));
}

TEST_F(TorchCode, compiles_for_shapes_that_vary) {
  EXPECT_TRUE(holds_text(code({{"torch_compile", "default"}, {"compile_dynamic", false}}),
                         "torch.compile(model, dynamic=False)\n"));
  EXPECT_TRUE(
      holds_text(code({{"torch_compile", "max-autotune"}, {"compile_dynamic", true}, {"compile_fullgraph", true}}),
                 "torch.compile(model, mode=\"max-autotune\", fullgraph=True, dynamic=True)\n"));
}

TEST_F(TorchCode, gives_the_batch_its_rows) {
  const std::string function = R"(

def batch_of(one):
    if not torch.is_tensor(one) or not one.dim():
        return one
    return one[torch.arange(4, device=one.device) % one.shape[0]]


inputs = )";
  EXPECT_TRUE(holds_text(code({{"batch_size", 4}}), function + "batch_of(inputs)  # 4 rows"));
  model_.python_form = schema::PythonForm{"pair", "dict", true};
  const auto several = code({{"batch_size", 4}, {"channels_last", true}});
  EXPECT_TRUE(holds_text(several, function + "[tree_map(batch_of, dict(one)) for one in inputs]  # 4 rows"));
  EXPECT_LT(several.find("def batch_of"), several.find("def converted"));
  spec_.calls_per_wait = 16;
  EXPECT_TRUE(holds_text(torch_program(torch_code(spec_, model_), spec_, model_), "for _ in range(16):"));
}

TEST_F(TorchCode, traces_what_takes_tensors) {
  EXPECT_TRUE(holds_text(code({{"torchscript", "freeze"}, {"grad_mode", "no_grad"}}),
                         "with torch.no_grad():\n    model = torch.jit.trace(model, inputs, strict=False, "
                         "check_trace=False)\n    model = torch.jit.freeze(model)\n"));
  model_.python_form->inputs = "dict";
  const auto wrapped = code({{"torchscript", "trace"}});
  EXPECT_TRUE(holds_text(wrapped, "torch.jit.trace(OfTensors(model, dict(inputs)), tensors_of(inputs), strict=False"));
  EXPECT_TRUE(holds_text(wrapped, "return self.model(**inputs)"));
  EXPECT_TRUE(holds_text(wrapped, "return model(*tensors_of(inputs))"));
  EXPECT_FALSE(holds_text(wrapped, "jit.freeze"));
}

TEST_F(TorchCode, follows_the_form_of_what_the_function_returns) {
  spec_.provider = id_of(schema::DeviceKind::gpu);
  model_.python_form = schema::PythonForm{"triple", "tuple", true};
  const auto several = code({{"cuda_graph", true}, {"channels_last", true}});
  EXPECT_TRUE(holds_text(several, "model, inputs, _ = build()"));
  EXPECT_TRUE(holds_text(several, "inputs = [tree_map(converted, one) for one in inputs]"));
  EXPECT_TRUE(holds_text(several, "return model(*inputs)"));
  EXPECT_TRUE(holds_text(several, "zip(tensors, tree_flatten(inputs)[0])"));
  EXPECT_TRUE(holds_text(several, "runs = [capture(one) for one in inputs]"));
  EXPECT_TRUE(holds_text(torch_program(torch_code(spec_, model_), spec_, model_), "calls = list(zip(runs, inputs))"));
  model_.python_form = schema::PythonForm{"dict", "dict", false};
  const auto named = code({});
  EXPECT_TRUE(holds_text(named, "model, inputs = made[\"model\"], made[\"inputs\"]"));
  EXPECT_TRUE(holds_text(named, "return model(**inputs)"));
  model_.python_form->inputs = "mixed";
  EXPECT_TRUE(holds_text(code({}), "return model(**inputs) if isinstance(inputs, dict) else model(*inputs)"));
}

TEST_F(TorchCode, is_a_program_that_loads_the_function_and_waits_for_the_device) {
  spec_.configuration = {{"torch_compile", "default"}};
  auto program = torch_program(torch_code(spec_, model_), spec_, model_);
  EXPECT_TRUE(holds_text(program, "models/infer.py\")"));
  EXPECT_TRUE(holds_text(program, "build = module.build\nimport torch\ntorch.manual_seed(7)\n"));
  EXPECT_TRUE(holds_text(program, "wait = lambda: None"));
  EXPECT_TRUE(holds_text(program, "raise SystemExit(\"nothing was compiled\")"));
  spec_.provider = id_of(schema::DeviceKind::gpu);
  spec_.workload.location = "models.infer:build";
  spec_.configuration = {};
  program = torch_program(torch_code(spec_, model_), spec_, model_);
  EXPECT_TRUE(holds_text(program, "module = importlib.import_module(\"models.infer\")"));
  EXPECT_TRUE(holds_text(program, "wait = torch.cuda.synchronize"));
  EXPECT_FALSE(holds_text(program, "nothing was compiled"));
  EXPECT_TRUE(holds_text(program, "calls = [from_host(function, one) for function, one in calls]"));
  spec_.tensor_location = "device";
  EXPECT_FALSE(holds_text(torch_program(torch_code(spec_, model_), spec_, model_), "from_host"));
}

}  // namespace
}  // namespace ridgeline::workload
