// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/external_data.hpp"

#include <system_error>

#include "base/hash.hpp"
#include "base/text.hpp"
#include "workload/element_type.hpp"
#include "workload/messages.hpp"
#include "workload/onnx/model_walk.hpp"

namespace ridgeline::workload {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;

const std::string* find_entry(const onnx::TensorProto& tensor, std::string_view key) {
  for (const auto& entry : tensor.external_data())
    if (entry.key() == key) return &entry.value();
  return nullptr;
}

base::Result<std::int64_t> number_entry(const onnx::TensorProto& tensor, const char* key, std::int64_t otherwise) {
  const auto* text = find_entry(tensor, key);
  if (text == nullptr || text->empty()) return otherwise;
  const auto number = base::parse_integer(*text, key);
  if (!number || *number < 0)
    return base::fail(ErrorCode::corrupt, "external data of tensor {} has {}=\"{}\", not a number of bytes",
                      tensor.name(), key, *text)
        .hint("export the model again");
  return *number;
}

bool leaves_folder(const fs::path& location) {
  return location.is_absolute() || (!location.empty() && *location.lexically_normal().begin() == "..");
}

base::Result<std::int64_t> file_bytes(const fs::path& file, const onnx::TensorProto& tensor) {
  std::error_code error;
  const auto status = fs::status(file, error);
  if (status.type() == fs::file_type::not_found)
    return base::fail(ErrorCode::not_found, "external data {} of tensor {} is missing", file.string(), tensor.name())
        .hint("put it beside the model");
  if (!error && !fs::is_regular_file(status))
    return base::fail(ErrorCode::io, "external data {} of tensor {} is not a regular file", file.string(),
                      tensor.name());
  const auto bytes = error ? 0 : fs::file_size(file, error);
  if (error)
    return base::fail(ErrorCode::io, "cannot read external data {} of tensor {}: {}", file.string(), tensor.name(),
                      error.message());
  return static_cast<std::int64_t>(bytes);
}

}  // namespace

base::Result<ExternalSlice> external_slice(const onnx::TensorProto& tensor, const fs::path& model_path) {
  const auto* location = find_entry(tensor, "location");
  if (location == nullptr || location->empty())
    return base::fail(ErrorCode::corrupt, "tensor {} is marked external but names no file", tensor.name())
        .hint("export the model again");
  RL_TRY_ASSIGN(const auto offset, number_entry(tensor, "offset", 0));
  const auto needed =
      tensor_bytes(static_cast<ElementType>(tensor.data_type()), {tensor.dims().begin(), tensor.dims().end()});
  if (!needed) return base::fail(ErrorCode::corrupt, "external tensor {}: {}", tensor.name(), needed.error().message);
  RL_TRY_ASSIGN(const auto length, number_entry(tensor, "length", *needed));
  if (length < *needed)
    return base::fail(ErrorCode::corrupt, "external data of tensor {} has length={}, but its shape needs {} bytes",
                      tensor.name(), length, *needed)
        .hint("export the model again");
  return ExternalSlice{model_path.parent_path() / *location, offset, *needed};
}

base::Result<ExternalData> check_external_data(const onnx::ModelProto& model, const fs::path& model_path) {
  ExternalData external;
  std::map<std::string, std::int64_t> sizes;
  base::Result<void> outcome;
  const auto check = [&](const onnx::TensorProto& tensor) -> base::Result<void> {
    RL_TRY_ASSIGN(const auto slice, external_slice(tensor, model_path));
    const auto& location = *find_entry(tensor, "location");
    if (sizes.count(location) == 0) {
      RL_TRY_ASSIGN(const auto bytes, file_bytes(slice.file, tensor));
      sizes[location] = bytes;
      external.files[location] = slice.file;
      external.bytes += bytes;
      if (leaves_folder(location)) external.notes.push_back(messages::external_outside(location));
    }
    const auto size = sizes[location];
    if (slice.offset > size || slice.bytes > size - slice.offset)
      return base::fail(ErrorCode::corrupt,
                        "external data {} has {} bytes, but tensor {} needs bytes {} to {}: it is truncated",
                        slice.file.string(), size, tensor.name(), slice.offset,
                        static_cast<std::uint64_t>(slice.offset) + static_cast<std::uint64_t>(slice.bytes))
          .hint("copy it again");
    return {};
  };
  ModelVisitor visitor;
  visitor.tensor = [&](const onnx::TensorProto& tensor, TensorRole) {
    if (outcome && tensor.data_location() == onnx::TensorProto::EXTERNAL) outcome = check(tensor);
  };
  walk_model(model, visitor);
  RL_TRY(std::move(outcome));
  return external;
}

base::Result<std::string> sha256_model(const fs::path& model_path, const ExternalData& external) {
  RL_TRY_ASSIGN(auto digest, base::sha256_file(model_path));
  if (external.files.empty()) return digest;
  std::string text = digest + "\n";
  for (const auto& [location, file] : external.files) {
    RL_TRY_ASSIGN(const auto part, base::sha256_file(file));
    text += fmt::format("{} {}\n", location, part);
  }
  return base::sha256_hex(text);
}

}  // namespace ridgeline::workload
