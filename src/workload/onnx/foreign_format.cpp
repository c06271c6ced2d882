// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/foreign_format.hpp"

#include <algorithm>

namespace ridgeline::workload {
namespace {

using namespace std::string_view_literals;

struct Magic {
  std::size_t offset;
  std::string_view bytes;
  const char* what;
  const char* next;
};

// Where each mark is defined: git-lfs spec; PKZIP; pickle protocol opcodes; TFLite, ORT and TensorRT file identifiers;
// HDF5 superblock; NumPy format; GGUF.
constexpr Magic kMagics[] = {
    {0, "version https://git-lfs"sv, "a git-lfs pointer, not the model itself", "fetch the content with git lfs pull"},
    {0, "PK\x03\x04"sv, "a zip archive, as torch.save, TorchScript and Keras write",
     "export the model to ONNX first (torch.onnx.export)"},
    {0, "\x80\x02\x8a\x0al\xfc\x9c\x46"sv, "a PyTorch checkpoint (pickle)",
     "export the model to ONNX first (torch.onnx.export)"},
    {0, "\x80\x02"sv, "a Python pickle", "export the model to ONNX first"},
    {0, "\x80\x03"sv, "a Python pickle", "export the model to ONNX first"},
    {0, "\x80\x04\x95"sv, "a Python pickle", "export the model to ONNX first"},
    {0, "\x80\x05\x95"sv, "a Python pickle", "export the model to ONNX first"},
    {4, "TFL3"sv, "a TensorFlow Lite model", "convert it first (python -m tf2onnx.convert --tflite)"},
    {4, "ORTM"sv, "a model in ONNX Runtime's own .ort format", "give the .onnx file it was made from"},
    {0, "ftrt"sv, "a TensorRT engine", "give the .onnx file it was built from"},
    {0, "ptrt"sv, "a TensorRT engine", "give the .onnx file it was built from"},
    {0, "\x89HDF\r\n\x1a\n"sv, "an HDF5 file, as Keras writes", "convert it to ONNX first (tf2onnx)"},
    {0, "\x93NUMPY"sv, "a NumPy array", "give the model file; arrays belong to --input"},
    {0, "GGUF"sv, "a GGUF model", "give an ONNX export of the model"},
    {8, "{\""sv, "a safetensors file", "export the model to ONNX first"},
    {0, "\x1f\x8b"sv, "a gzip archive", "unpack it first"},
    {0, "\x28\xb5\x2f\xfd"sv, "a zstd archive", "unpack it first"},
    {0, "BZh"sv, "a bzip2 archive", "unpack it first"},
    {0,
     "\xfd"
     "7zXZ"sv,
     "an xz archive", "unpack it first"},
    {0, "<!DOCTYPE"sv, "an HTML page, perhaps a failed download", "download the model again"},
    {0, "<!doctype"sv, "an HTML page, perhaps a failed download", "download the model again"},
    {0, "<html"sv, "an HTML page, perhaps a failed download", "download the model again"},
    {0, "<?xml"sv, "an XML file, as OpenVINO writes", "give the .onnx file it was made from"},
    {0,
     "\x7f"
     "ELF"sv,
     "a program or shared library", "give an .onnx file"},
};

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

bool is_text(std::string_view head) {
  return !head.empty() && std::all_of(head.begin(), head.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte == '\t' || byte == '\n' || byte == '\r' || (byte >= 0x20 && byte != 0x7f);
  });
}

}  // namespace

std::optional<ForeignFormat> recognise_foreign_format(std::string_view head) {
  for (const auto& magic : kMagics)
    if (head.size() >= magic.offset + magic.bytes.size() &&
        head.substr(magic.offset, magic.bytes.size()) == magic.bytes)
      return ForeignFormat{magic.what, magic.next};
  // A protobuf model begins with a field tag, a control character: bytes that are all printable cannot be one.
  if (is_text(head)) return ForeignFormat{"a text file", "give an .onnx file"};
  return std::nullopt;
}

std::optional<ForeignFormat> recognise_foreign_protobuf(const std::filesystem::path& path, std::string_view head) {
  if (path.filename() == "saved_model.pb" || contains(head, "tensorflow") || contains(head, "Placeholder"))
    return ForeignFormat{"a TensorFlow model", "convert it to ONNX first (python -m tf2onnx.convert)"};
  const auto extension = path.extension();
  if (extension == ".pdmodel" || extension == ".pdiparams")
    return ForeignFormat{"a Paddle model", "convert it to ONNX first (paddle2onnx)"};
  if (extension == ".mlmodel") return ForeignFormat{"a Core ML model", "give the model's ONNX export"};
  if (extension == ".caffemodel") return ForeignFormat{"a Caffe model", "convert it to ONNX first"};
  return std::nullopt;
}

}  // namespace ridgeline::workload
