// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/model_file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <system_error>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>

#include "base/text.hpp"
#include "workload/onnx/foreign_format.hpp"

namespace ridgeline::workload {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;

constexpr std::size_t kHeadBytes = 4096;

using File = std::unique_ptr<FILE, int (*)(FILE*)>;

base::Result<std::int64_t> regular_file_bytes(const fs::path& path) {
  std::error_code error;
  const auto status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found)
    return base::fail(ErrorCode::not_found, "no model at {}", path.string()).hint("check the path");
  if (error) return base::fail(ErrorCode::io, "cannot read model {}: {}", path.string(), error.message());
  if (fs::is_directory(status)) {
    std::error_code ignored;
    if (fs::exists(path / "saved_model.pb", ignored))
      return base::fail(ErrorCode::invalid_argument, "{} is a TensorFlow saved model, not an ONNX file", path.string())
          .hint("convert it first (python -m tf2onnx.convert)");
    return base::fail(ErrorCode::io, "model {} is a directory", path.string()).hint("give the .onnx file in it");
  }
  if (!fs::is_regular_file(status))
    return base::fail(ErrorCode::io, "model {} is not a regular file", path.string()).hint("give an .onnx file");
  const auto bytes = fs::file_size(path, error);
  if (error) return base::fail(ErrorCode::io, "cannot read model {}: {}", path.string(), error.message());
  if (bytes == 0)
    return base::fail(ErrorCode::invalid_argument, "model {} is empty", path.string()).hint("give an .onnx file");
  return static_cast<std::int64_t>(bytes);
}

tl::unexpected<base::Error> no_onnx_model(const fs::path& path, std::string_view head, std::string_view reason) {
  if (const auto foreign = recognise_foreign_protobuf(path, head))
    return base::fail(ErrorCode::invalid_argument, "{} is {}, not an ONNX model", path.string(), foreign->what)
        .hint("{}", foreign->next);
  return base::fail(ErrorCode::invalid_argument, "{} is not an ONNX model ({})", path.string(), reason)
      .hint("give an .onnx file");
}

/// Whether a model that does not parse to its end nevertheless began as an ONNX file.
bool began_as_onnx(const onnx::ModelProto& model) {
  return model.ir_version() > 0 && model.ir_version() < 1000 &&
         (model.has_graph() || model.opset_import_size() > 0 || model.has_producer_name());
}

}  // namespace

base::Result<ModelFile> load_model_file(const fs::path& path) {
  RL_TRY_ASSIGN(const auto bytes, regular_file_bytes(path));
  const File file(std::fopen(path.c_str(), "rbe"), &std::fclose);
  if (!file) return base::fail(ErrorCode::io, "cannot read model {}: {}", path.string(), std::strerror(errno));
  std::string head(kHeadBytes, '\0');
  head.resize(std::fread(head.data(), 1, head.size(), file.get()));
  if (std::ferror(file.get()) != 0)
    return base::fail(ErrorCode::io, "cannot read model {}: {}", path.string(), std::strerror(errno));
  if (const auto foreign = recognise_foreign_format(head))
    return base::fail(ErrorCode::invalid_argument, "{} is {}, not an ONNX model", path.string(), foreign->what)
        .hint("{}", foreign->next);
  if (bytes > std::numeric_limits<std::int32_t>::max())
    return base::fail(ErrorCode::unsupported, "model {} has {}, but one protobuf file holds less than 2 GiB",
                      path.string(), base::format_bytes(static_cast<double>(bytes)))
        .hint("save it with external data (onnx.save_model(..., save_as_external_data=True))");
  std::rewind(file.get());

  ModelFile result;
  result.bytes = bytes;
  bool complete = false;
  {
    google::protobuf::io::FileInputStream stream(::fileno(file.get()));
    google::protobuf::io::CodedInputStream coded(&stream);
    coded.SetTotalBytesLimit(std::numeric_limits<std::int32_t>::max());
    complete = result.model.ParseFromCodedStream(&coded) && coded.ConsumedEntireMessage();
    if (const int error = stream.GetErrno(); error != 0)
      return base::fail(ErrorCode::io, "cannot read model {}: {}", path.string(), std::strerror(error));
  }
  const auto& model = result.model;
  if (!complete) {
    if (began_as_onnx(model))
      return base::fail(ErrorCode::corrupt, "model {} ends in the middle of its data ({} read): truncated or damaged",
                        path.string(), base::format_bytes(static_cast<double>(bytes)))
          .hint("copy or export it again");
    return no_onnx_model(path, head, "its bytes are not the protobuf of a model");
  }
  if (!model.has_graph()) {
    if (began_as_onnx(model) && !recognise_foreign_protobuf(path, head))
      return base::fail(ErrorCode::corrupt, "model {} has no graph: truncated or damaged", path.string())
          .hint("copy or export it again");
    return no_onnx_model(path, head, "it has no graph");
  }
  // Every graph computes something; protobuf of another kind that happens to have a message in field 7 does not.
  if (model.graph().output_size() == 0 && model.graph().node_size() == 0)
    return no_onnx_model(path, head, "its graph has neither nodes nor outputs");
  // Written after the graph by most exporters, so a file cut exactly there still parses.
  if (model.opset_import_size() == 0 && model.ir_version() >= 3)
    return base::fail(ErrorCode::corrupt, "model {} names no operator set: truncated or damaged", path.string())
        .hint("copy or export it again");
  return result;
}

}  // namespace ridgeline::workload
