// SPDX-License-Identifier: Apache-2.0
#include "workload/training/data_facts.hpp"

#include "base/text.hpp"
#include "workload/training/training_data.hpp"

namespace ridgeline::workload {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

/// A class that the model lacks would stop a GPU for good.
Result<void> check_classes(const std::string& named, std::int64_t classes, const TrainingData& data) {
  const auto count = base::parse_integer(named, "option classes");
  if (!count || *count >= classes) return {};  // what is no number is for the model to refuse
  return fail(ErrorCode::invalid_argument, "option classes={}: {}: dataset \"{}\" has {} of them", named, data.path,
              data.label, classes);
}

}  // namespace

Result<DataFacts> find_data_facts(const schema::TrainingJob& job) {
  DataFacts out;
  if (job.data_path.empty()) {
    for (const auto& name : data_option_names())
      if (job.options.count(name) != 0)
        return fail(ErrorCode::invalid_argument, "option {} is about a data file", name)
            .hint("add --data-path data.h5");
    return out;
  }
  RL_TRY_ASSIGN(const auto data, choose_training_data(job.data_path, job.options));
  out.options["input_dataset"] = data.input;
  if (!data.label.empty()) out.options["label_dataset"] = data.label;
  RL_TRY_ASSIGN(auto census, inspect_training_data(data));
  out.notes = std::move(census.notes);
  out.samples = static_cast<std::int64_t>(census.samples);
  if (!census.classes) return out;
  if (const auto named = job.options.find("classes"); named != job.options.end())
    RL_TRY(check_classes(named->second, *census.classes, data));
  else
    out.options["classes"] = fmt::format("{}", *census.classes);
  return out;
}

}  // namespace ridgeline::workload
