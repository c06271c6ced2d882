// SPDX-License-Identifier: Apache-2.0
#include "workload/torch/torch_code.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/ranges.h>

#include "schema/catalog.hpp"

namespace ridgeline::workload {
namespace {

using schema::Value;

const std::map<std::string_view, std::string_view> kTypes{{"fp16", "torch.float16"},
                                                          {"bf16", "torch.bfloat16"},
                                                          {"autocast_fp16", "torch.float16"},
                                                          {"autocast_bf16", "torch.bfloat16"}};
const std::map<std::string_view, std::string_view> kBackends{
    {"flash", "FLASH_ATTENTION"}, {"efficient", "EFFICIENT_ATTENTION"}, {"math", "MATH"}, {"cudnn", "CUDNN_ATTENTION"}};

/// Writes the lines of one trial, top to bottom.
class Writer {
 public:
  Writer(const schema::TrialSpec& spec, const schema::ModelDescription& model)
      : spec_(spec), model_(model), form_(model.python_form.value_or(schema::PythonForm{})) {
    for (const auto& [key, value] : spec.configuration.values()) {
      const auto* param = schema::find_param(key);
      if (key == "batch_size")
        batch_ = value.as_integer();
      else if (param == nullptr || param->scope != schema::ParamScope::torch_option)
        others_.push_back(fmt::format("{}={}", key, value.to_text()));
      else if (value != param->default_value)
        chosen_[key] = value;
    }
  }

  std::string text() {
    make();
    switches();
    batch();
    conversion();
    script();
    compiler();
    functions();
    warm_up();
    advice();
    return imports() + "\n" + out_;
  }

 private:
  [[nodiscard]] std::string chosen(const std::string& key) const {
    const auto found = chosen_.find(key);
    return found == chosen_.end() ? std::string() : found->second.to_text();
  }
  [[nodiscard]] bool is_on(const std::string& key) const { return chosen(key) == "true"; }
  [[nodiscard]] bool is_autocast() const { return chosen("torch_precision").rfind("autocast", 0) == 0; }
  [[nodiscard]] bool is_converted() const { return chosen_.count("torch_precision") != 0 && !is_autocast(); }
  [[nodiscard]] bool is_compiled() const { return chosen_.count("torch_compile") != 0; }
  [[nodiscard]] bool is_script() const { return chosen_.count("torchscript") != 0; }
  /// A trace takes tensors only, so what else the inputs hold becomes part of the model.
  [[nodiscard]] bool is_wrapped() const { return is_script() && form_.inputs != "tensor" && form_.inputs != "tensors"; }
  [[nodiscard]] bool has_trees() const { return form_.inputs != "tensor"; }

  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    out_ += fmt::format(format, std::forward<Args>(args)...) + "\n";
  }

  [[nodiscard]] std::string imports() const {
    std::string text = "import torch\n";
    if (is_compiled() && is_on("compile_freezing")) text += "import torch._inductor.config\n";
    if (chosen_.count("sdpa_backend") != 0) text += "from torch.nn.attention import SDPBackend, sdpa_kernel\n";
    std::vector<std::string> trees;
    for (const auto* name : {"tree_flatten", "tree_map", "tree_unflatten"})
      if (out_.find(std::string(name) + "(") != std::string::npos) trees.emplace_back(name);
    if (!trees.empty()) text += fmt::format("from torch.utils._pytree import {}\n", fmt::join(trees, ", "));
    return text;
  }

  void make() {
    const auto call = function_of(spec_) + "()";
    if (form_.returned == "dict") {
      line("made = {}  # yours", call);
      line("model, inputs = made[\"model\"], made[\"inputs\"]");
    } else {
      line("model, inputs{} = {}  # yours", form_.returned == "triple" ? ", _" : "", call);
    }
  }

  void switches() {
    if (chosen_.count("allow_tf32") != 0) {
      line("torch.set_float32_matmul_precision(\"{}\")", is_on("allow_tf32") ? "high" : "highest");
      line("torch.backends.cudnn.allow_tf32 = {}", is_on("allow_tf32") ? "True" : "False");
    }
    if (chosen_.count("cudnn_benchmark") != 0) line("torch.backends.cudnn.benchmark = True");
    if (chosen_.count("torch_threads") != 0) line("torch.set_num_threads({})", chosen("torch_threads"));
    if (is_compiled() && is_on("compile_freezing")) line("torch._inductor.config.freezing = True");
  }

  /// `of` one input set, done for all.
  [[nodiscard]] std::string of_each(const std::string& of_one, const std::string& of_inputs) const {
    return form_.several ? fmt::format("[{} for one in inputs]", of_one) : of_inputs;
  }
  /// The tensors of a set changed by a function.
  [[nodiscard]] std::string mapped(std::string_view function, const std::string& set) const {
    if (!has_trees()) return fmt::format("{}({})", function, set);
    return fmt::format("tree_map({}, {})", function, tree_of(set));
  }
  /// Dictionaries of other classes, such as a tokenizer's, are no containers to torch.
  [[nodiscard]] std::string tree_of(const std::string& set) const {
    return form_.inputs == "dict" ? fmt::format("dict({})", set) : set;
  }

  void batch() {
    if (!batch_) return;
    line("\n\ndef batch_of(one):");
    line("    if not torch.is_tensor(one) or not one.dim():");
    line("        return one");
    line("    return one[torch.arange({}, device=one.device) % one.shape[0]]\n\n", *batch_);
    line("inputs = {}  # {} rows: yours over and over, later those of as many requests",
         of_each(mapped("batch_of", "one"), mapped("batch_of", "inputs")), *batch_);
  }

  void conversion() {
    const bool last = is_on("channels_last");
    if (!last && !is_converted()) return;
    const auto type = is_converted() ? kTypes.at(chosen("torch_precision")) : std::string_view();
    line("\n\ndef converted(one):");
    if (is_converted()) {
      line("    if torch.is_tensor(one) and one.is_floating_point():");
      line("        one = one.to({})", type);
    }
    if (last) {
      line("    if torch.is_tensor(one) and one.dim() == 4:");
      line("        one = one.contiguous(memory_format=torch.channels_last)");
    }
    line("    return one\n\n");
    if (is_converted()) line("model = model.to({})", type);
    if (last && model_.parameters > 0) line("model = model.to(memory_format=torch.channels_last)");
    line("inputs = {}  # and so those of later calls",
         of_each(mapped("converted", "one"), mapped("converted", "inputs")));
  }

  /// What a call of the model is made under.
  [[nodiscard]] std::vector<std::string> contexts(bool with_autocast) const {
    std::vector<std::string> all;
    if (chosen_.count("sdpa_backend") != 0)
      all.push_back(fmt::format("sdpa_kernel([SDPBackend.{}])", kBackends.at(chosen("sdpa_backend"))));
    if (chosen_.count("grad_mode") != 0) all.push_back(fmt::format("torch.{}()", chosen("grad_mode")));
    if (with_autocast && is_autocast())
      all.push_back(fmt::format("torch.autocast(\"{}\", dtype={}{})", spec_.on_gpu() ? "cuda" : "cpu",
                                kTypes.at(chosen("torch_precision")),
                                is_script() || is_on("cuda_graph") ? ", cache_enabled=False" : ""));
    return all;
  }

  void script() {
    if (!is_script()) return;
    const std::string first = form_.several ? "inputs[0]" : "inputs";
    if (is_wrapped()) {
      line("\n\nclass OfTensors(torch.nn.Module):");
      line("    \"\"\"The model as a function of its tensors, which is all that a trace takes.\"\"\"\n");
      line("    def __init__(self, model, inputs):");
      line("        super().__init__()");
      line("        self.model = model");
      line("        self.leaves, self.form = tree_flatten(inputs)");
      line("        self.training = getattr(model, \"training\", False)\n");
      line("    def forward(self, *tensors):");
      line("        left = iter(tensors)");
      line("        leaves = [next(left) if torch.is_tensor(one) else one for one in self.leaves]");
      line("        inputs = tree_unflatten(leaves, self.form)");
      line("        return {}\n\n", invocation("self.model", "inputs"));
      line("def tensors_of(inputs):");
      line("    return tuple(one for one in tree_flatten({})[0] if torch.is_tensor(one))\n\n", tree_of("inputs"));
    }
    const auto model = is_wrapped() ? fmt::format("OfTensors(model, {})", tree_of(first)) : std::string("model");
    const auto example = is_wrapped() ? fmt::format("tensors_of({})", first) : first;
    std::string indent;
    if (const auto under = contexts(true); !under.empty()) {
      line("with {}:", fmt::join(under, ", "));
      indent = "    ";
    }
    line("{}model = torch.jit.trace({}, {}, strict=False, check_trace=False)", indent, model, example);
    if (chosen("torchscript") == "freeze") line("{}model = torch.jit.freeze(model)", indent);
  }

  void compiler() {
    if (!is_compiled()) return;
    auto mode = chosen("torch_compile");
    if (mode == "max-autotune" && is_on("cuda_graph")) mode += "-no-cudagraphs";
    auto arguments = mode == "default" ? std::string() : fmt::format(", mode=\"{}\"", mode);
    if (is_on("compile_fullgraph")) arguments += ", fullgraph=True";
    if (chosen_.count("compile_dynamic") != 0)
      arguments += is_on("compile_dynamic") ? ", dynamic=True" : ", dynamic=False";
    line("model = torch.compile(model{})", arguments);
  }

  [[nodiscard]] std::string invocation(const std::string& model, const std::string& set) const {
    if (form_.inputs == "tensor") return fmt::format("{}({})", model, set);
    if (form_.inputs == "dict") return fmt::format("{}(**{})", model, set);
    if (form_.inputs != "mixed") return fmt::format("{}(*{})", model, set);
    return fmt::format("{0}(**{1}) if isinstance({1}, dict) else {0}(*{1}) if isinstance({1}, tuple) else {0}({1})",
                       model, set);
  }

  void call(std::string_view name) {
    auto returned = is_wrapped() ? std::string("model(*tensors_of(inputs))") : invocation("model", "inputs");
    if (chosen_.count("torch_precision") != 0) returned = fmt::format("tree_map(full, {})", returned);
    line("\n\ndef {}(inputs):", name);
    const auto under = contexts(!is_script());
    if (!under.empty()) line("    with {}:", fmt::join(under, ", "));
    line("{}return {}", under.empty() ? "    " : "        ", returned);
  }

  /// The type of the inputs, as outputs had it.
  [[nodiscard]] std::string own_type() const {
    for (const auto& input : model_.inputs) {
      if (input.element_type == "float16" || input.element_type == "bfloat16") return "torch." + input.element_type;
      if (input.element_type == "double") return "torch.float64";
    }
    return "torch.float32";
  }

  void functions() {
    if (chosen_.count("torch_precision") != 0) {
      line("\n\ndef full(one):  # outputs in the type that they had");
      line("    return one.to({}) if torch.is_tensor(one) and one.is_floating_point() else one", own_type());
    }
    if (!is_on("cuda_graph")) return call("run");
    call("call");
    line("\n\ndef capture(inputs):");
    line("    \"\"\"A function that replays one CUDA graph of the call, for inputs of these shapes.\"\"\"");
    if (has_trees()) {
      line("    static = tree_map(lambda one: one.clone() if torch.is_tensor(one) else one, {})", tree_of("inputs"));
      line("    tensors = tree_flatten(static)[0]");
    } else {
      line("    static = inputs.clone()");
    }
    line("    stream = torch.cuda.Stream()");
    line("    stream.wait_stream(torch.cuda.current_stream())");
    line("    with torch.cuda.stream(stream):");
    line("        for _ in range(3):  # what compiles, allocates or chooses kernels must not do so during the capture");
    line("            call(static)");
    line("    torch.cuda.current_stream().wait_stream(stream)");
    line("    graph = torch.cuda.CUDAGraph()");
    line("    with torch.cuda.graph(graph):");
    line("        outputs = call(static)\n");
    line("    def replay(inputs):");
    line("        with torch.no_grad():");
    if (has_trees()) {
      line("            for mine, new in zip(tensors, tree_flatten({})[0]):", tree_of("inputs"));
      line("                if torch.is_tensor(mine):");
      line("                    mine.copy_(new)");
    } else {
      line("            static.copy_(inputs)");
    }
    line("        graph.replay()");
    line("        return outputs\n");
    line("    return replay");
  }

  void warm_up() {
    const bool graph = is_on("cuda_graph");
    line("\n");
    if (graph) line("{} = {}", form_.several ? "runs" : "run", of_each("capture(one)", "capture(inputs)"));
    const bool settles = graph || is_script() || is_compiled();
    const auto* why = settles ? "warm-up, before the first request" : "warm-up: the first calls are slower";
    if (!form_.several) {
      line("for _ in range(3):  # {}", why);
      line("    outputs = run(inputs)");
    } else {
      line("{}", graph ? "for run, one in zip(runs, inputs):" : "for one in inputs:");
      line("    for _ in range(3):  # {}", why);
      line("        outputs = run(one)");
    }
  }

  void advice() {
    const bool recorded = chosen("torch_compile") == "reduce-overhead" ||
                          (chosen("torch_compile") == "max-autotune" && spec_.on_gpu() && !is_on("cuda_graph"));
    if (is_compiled()) {
      line(
          "# Set TORCHINDUCTOR_CACHE_DIR to a folder that stays on the server's disk: a restart then compiles little.");
      line("# Inputs of another shape compile again; call under the same grad mode, else that compiles again too.");
    }
    if (is_on("cuda_graph") || recorded)
      line("# Outputs are valid until the next call: clone what you keep. One process, or one such graph, a stream.");
    if (is_script())
      line("# The trace took one way through the model's Python code: check inputs that would take another.");
    if (!others_.empty()) line("# Not a line of code: {}", fmt::join(others_, ", "));
  }

  const schema::TrialSpec& spec_;
  const schema::ModelDescription& model_;
  schema::PythonForm form_;
  std::map<std::string, Value> chosen_;  ///< without what is torch's default anyway
  std::optional<std::int64_t> batch_;
  std::vector<std::string> others_;
  std::string out_;
};

}  // namespace

std::string function_of(const schema::TrialSpec& spec) {
  const auto& target = spec.workload.location;
  return target.substr(target.rfind(':') + 1);
}

schema::LoadingCode torch_code(const schema::TrialSpec& spec, const schema::ModelDescription& model) {
  schema::LoadingCode code;
  code.python = Writer(spec, model).text();
  return code;
}

}  // namespace ridgeline::workload
