// SPDX-License-Identifier: Apache-2.0
#include "execute/python_export.hpp"
#include "schema/messages.hpp"

#include <array>
#include <future>

namespace ridgeline::execute {
namespace {

constexpr std::array kExporters{"dynamo", "torchscript"};  // of ridgeline_infer/onnx_export.py, the newer one first

schema::ExportedModel exported(const JsonChildOptions& options, const schema::WorkloadRef& workload,
                               const std::string& exporter, const std::string& precision, const std::string& folder,
                               std::size_t together, double limit_s) {
  schema::ExportedModel out;
  out.exporter = exporter;
  out.precision = precision;
  JsonChild child(options);
  const auto answer = child.ask({{"op", "export"},
                                 {"target", workload.location},
                                 {"exporter", exporter},
                                 {"precision", precision},
                                 {"seed", workload.seed},
                                 {"folder", folder},
                                 {"together", together}},
                                limit_s);
  if (!answer) {
    out.problem = schema::messages::foreign(answer.error().error.message);
    return out;
  }
  out.path = answer->value("model", "");
  const auto inputs = answer->value("inputs", base::Json::array());
  for (const auto& input : inputs) out.input_files.push_back({input.value("name", ""), input.value("path", ""), ""});
  child.close();
  return out;
}

}  // namespace

std::vector<schema::ExportedModel> export_models(const JsonChildOptions& child, const schema::WorkloadRef& workload,
                                                 const std::string& folder, const std::vector<std::string>& precisions,
                                                 double limit_s) {
  std::vector<std::future<schema::ExportedModel>> running;
  for (const auto& precision : precisions)
    for (const auto* exporter : kExporters)
      running.push_back(std::async(std::launch::async, exported, std::cref(child), std::cref(workload),
                                   std::string(exporter), precision, std::cref(folder),
                                   precisions.size() * kExporters.size(), limit_s));
  std::vector<schema::ExportedModel> out;
  for (auto& one : running) out.push_back(one.get());
  return out;
}

}  // namespace ridgeline::execute
