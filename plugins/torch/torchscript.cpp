// SPDX-License-Identifier: Apache-2.0
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/import.h>

#include <fstream>

#include "errors.hpp"
#include "model.hpp"

namespace ridgeline::torch_plugin {
namespace {

class TorchScript final : public Model {
 public:
  TorchScript(torch::jit::Module module, std::vector<at::Tensor> parameters)
      : module_(std::move(module)), parameters_(std::move(parameters)) {}

  at::Tensor forward(const at::Tensor& input) override {
    const auto output = module_.forward({input});
    if (output.isTensor()) return output.toTensor();
    refuse("the TorchScript model returns " + output.tagKind() + "; expected one tensor, which a loss can be made of");
  }
  const std::vector<at::Tensor>& parameters() const override { return parameters_; }

 private:
  torch::jit::Module module_;
  std::vector<at::Tensor> parameters_;
};

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

std::unique_ptr<Model> load_torchscript(const std::string& path, c10::Device device) {
  if (!std::ifstream(path).good()) refuse("no file " + path);
  try {
    auto module = torch::jit::load(path, device);
    module.train();
    std::vector<at::Tensor> parameters;
    for (const auto& parameter : module.parameters())
      if (parameter.requires_grad()) parameters.push_back(parameter);
    if (parameters.empty())
      refuse("TorchScript file " + path +
             " has nothing to train; save the module with torch.jit.script and without torch.jit.freeze");
    return std::make_unique<TorchScript>(std::move(module), std::move(parameters));
  } catch (const c10::OutOfMemoryError&) {
    throw;
  } catch (const c10::Error& error) {
    refuse(path + " is no TorchScript file that this LibTorch can read (" + first_line(error.what_without_backtrace()) +
           "); save it with torch.jit.script(model).save(PATH)");
  }
}

}  // namespace ridgeline::torch_plugin
