// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/ort_error.hpp"

#include <onnxruntime_c_api.h>

#include <algorithm>

#include "base/text.hpp"

namespace ridgeline::workload {
namespace {

using base::ErrorCode;

constexpr std::string_view kFailedNode = "Non-zero status code returned while running";

struct MessageRule {
  std::string_view text;
  ErrorCode code;
};

// The text says more than the code: ONNX Runtime reports an unknown operator as FAIL, INVALID_GRAPH or NOT_IMPLEMENTED
// depending on who notices it. First match wins.
constexpr MessageRule kRules[] = {
    {"Failed to allocate memory", ErrorCode::out_of_memory},
    {"bad_alloc", ErrorCode::out_of_memory},
    {"bad allocation", ErrorCode::out_of_memory},
    {"out of memory", ErrorCode::out_of_memory},
    {"CUDA_ERROR_OUT_OF_MEMORY", ErrorCode::out_of_memory},
    {"Available memory of", ErrorCode::out_of_memory},
    {"ALLOC_FAILED", ErrorCode::out_of_memory},       // CUBLAS_STATUS_, CUDNN_STATUS_, CUFFT_
    {"ALLOCATION_FAILED", ErrorCode::out_of_memory},  // CUDNN_STATUS_INTERNAL_ERROR_DEVICE_
    {"OutOfMemory", ErrorCode::out_of_memory},        // TensorRT's error code 2
    {"Could not find an implementation", ErrorCode::unsupported},
    {"is not a registered function/op", ErrorCode::unsupported},
    {"No Op registered for", ErrorCode::unsupported},
    {"No opset import for domain", ErrorCode::corrupt},
    {"ONNX Runtime only *guarantees* support", ErrorCode::unsupported},
    {"Unsupported model IR version", ErrorCode::unsupported},
    {"Unknown model file format version", ErrorCode::unsupported},
    {"no schema registered", ErrorCode::unsupported},
    {"NOT_IMPLEMENTED", ErrorCode::unsupported},
    {"not implemented", ErrorCode::unsupported},
    {"is not enabled in this build", ErrorCode::unsupported},
    {"Unknown provider option", ErrorCode::invalid_argument},
    {"Unsupported property", ErrorCode::invalid_argument},  // OpenVINO's load_config
    {"thread_affinities", ErrorCode::invalid_argument},
    {"Number of affinities", ErrorCode::invalid_argument},
    {"Failed to load shared library", ErrorCode::unavailable},
    {"Failed to load library", ErrorCode::unavailable},
    {"External data", ErrorCode::not_found},
    {"external data", ErrorCode::not_found},
    {"GetFileLength", ErrorCode::not_found},
    {"Exiting due to terminate flag", ErrorCode::cancelled},
    {"ShapeInferenceError", ErrorCode::corrupt},
    {"TypeInferenceError", ErrorCode::corrupt},
    {"This is an invalid model", ErrorCode::corrupt},
    {"Invalid model", ErrorCode::corrupt},
    {"Protobuf parsing failed", ErrorCode::corrupt},
    {"ModelProto does not have a graph", ErrorCode::corrupt},
    {"Missing opset in the model", ErrorCode::corrupt},
    {"are not supported", ErrorCode::unsupported},
    {"is not supported", ErrorCode::unsupported},
    {"only supports", ErrorCode::unsupported},
    {"Failed to construct locale", ErrorCode::unsupported},  // StringNormalizer: the machine has no such locale
    {kFailedNode, ErrorCode::internal},  // also INVALID_ARGUMENT: a kernel that refuses its input, not our setting
};

ErrorCode code_of(int ort_code) {
  switch (ort_code) {
    case ORT_INVALID_ARGUMENT: return ErrorCode::invalid_argument;
    case ORT_NO_SUCHFILE: return ErrorCode::not_found;
    case ORT_NO_MODEL:
    case ORT_INVALID_PROTOBUF:
    case ORT_INVALID_GRAPH: return ErrorCode::corrupt;
    case ORT_NOT_IMPLEMENTED: return ErrorCode::unsupported;
    default: return ErrorCode::internal;
  }
}

/// Where "file.cc:123" or "file.h:123" ends its name, or npos.
std::size_t find_source_position(std::string_view text) {
  for (const std::string_view suffix : {".cc:", ".h:", ".cpp:"})
    for (auto at = text.find(suffix); at != std::string_view::npos; at = text.find(suffix, at + 1))
      if (const auto next = at + suffix.size(); next < text.size() && text[next] >= '0' && text[next] <= '9') return at;
  return std::string_view::npos;
}

/// Past the signature that starts at `from`: behind its last closing parenthesis, "const" and template arguments.
std::size_t end_of_signature(std::string_view text, std::size_t from) {
  int depth = 0;
  bool opened = false;
  for (auto at = from; at < text.size(); ++at) {
    if (text[at] == '(') {
      ++depth;
      opened = true;
    }
    if (text[at] == ')') --depth;
    const bool lambda = text.substr(at, 3) == ")> " && text.substr(text.rfind('<', at)).substr(0, 7) == "<lambda";
    if (!opened || depth != 0 || (text.substr(at, 2) != ") " && !lambda)) continue;
    auto end = at + (lambda ? 3 : 2);
    if (text.substr(end, 6) == "const ") end += 6;
    if (text.substr(end, 6) == "[with ")
      if (const auto close = text.find("] ", end); close != std::string_view::npos) end = close + 2;
    return end;
  }
  return std::string_view::npos;
}

// "while running Add node: /onnxruntime_src/onnxruntime/core/x.cc:123 type onnxruntime::f(args) text": what a person
// needs is what stands before the path and after the signature.
std::string without_source_positions(std::string text) {
  for (auto position = find_source_position(text); position != std::string::npos;
       position = find_source_position(text)) {
    const auto space = text.find_last_of(" \n", position);
    auto from = text.find('/', space == std::string::npos ? 0 : space);
    auto end = end_of_signature(text, position);
    if (from > position) {  // "x.h:12 Function text": a name without path, a function without arguments
      from = space == std::string::npos ? 0 : space + 1;
      end = text.find(' ', position);
      if (end != std::string::npos) end = text.find(' ', end + 1);
      if (end != std::string::npos) ++end;
    }
    if (end == std::string::npos) break;
    text.erase(from, end - from);
  }
  return text;
}

/// OpenVINO names each place that an exception went through in a line of its own, and the reason in the last.
std::string without_exception_places(std::string text) {
  constexpr std::string_view kPlace = "Exception from src/";
  for (auto at = text.find(kPlace); at != std::string::npos; at = text.find(kPlace, at)) {
    const auto end = text.find(":\n", at);
    if (end == std::string::npos) break;
    text.erase(at, end + 2 - at);
  }
  return text;
}

/// What follows `marker` up to a character of `ends`; "" without the marker.
std::string_view after(std::string_view text, std::string_view marker, std::string_view ends) {
  const auto at = text.find(marker);
  if (at == std::string_view::npos) return {};
  const auto rest = text.substr(at + marker.size());
  return rest.substr(0, rest.find_first_of(ends));
}

constexpr std::string_view kNewer = "use a newer ONNX Runtime with --ort-library FILE";

struct Advice {
  std::string_view text;
  std::string_view next;
};
constexpr Advice kAdvice[] = {
    {"No Op registered for",
     "expected an operator of the model's opset: check its name and opset, or use a newer ONNX Runtime with "
     "--ort-library FILE"},
    {"is not a registered function/op",
     "an operator of a library of its own, which cannot be loaded here: export the model without it"},
    {"Could not find an implementation", "try another --provider, another data type, or a newer ONNX Runtime"},
    {"This is an invalid model", "check it with onnx.checker.check_model, and export it again"},
    {"Protobuf parsing failed", "is it an ONNX file, and whole? export or copy it again"},
    {"xternal data", "save it beside the model under a relative name (onnx.save_model with save_as_external_data)"},
    {"Unsupported model IR version",
     "export the model with an older onnx package, or use a newer ONNX Runtime with --ort-library FILE"},
};

/// ONNX Runtime's caution about a model from the future says the two versions among much else.
base::Error explain_opset(std::string_view message) {
  const auto opset = after(message, "versions. Opset ", " ");
  if (opset.empty()) return {};
  const auto model = after(message, "Load model from ", " ");
  const auto known = after(message, "is till opset ", ". ");
  return {{},
          fmt::format("{}{}opset {} is newer than this ONNX Runtime{}", model, model.empty() ? "" : ": ", opset,
                      known.empty() ? "" : fmt::format(" knows (till {})", known)),
          fmt::format("export the model with {}, or {}",
                      known.empty() ? "an older opset" : fmt::format("opset {} or less", known), kNewer)};
}

}  // namespace

std::string shorten_ort_message(std::string_view message) {
  constexpr std::size_t kLongest = 300;
  std::string line;
  for (const char c : without_source_positions(without_exception_places(std::string(base::trim(message))))) {
    const char shown = static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    if (shown == ' ' && (line.empty() || line.back() == ' ')) continue;
    line += shown;
  }
  while (!line.empty() && (line.back() == ' ' || line.back() == '.')) line.pop_back();
  if (line.size() <= kLongest) return line;
  // What was refused comes last, after the names of operator and node.
  const auto is_inside = [&](std::size_t at) { return (static_cast<unsigned char>(line[at]) & 0xC0U) == 0x80U; };
  std::size_t head = kLongest / 3;
  while (head > 0 && is_inside(head)) --head;  // not inside a UTF-8 sequence
  std::size_t tail = line.size() - (kLongest - kLongest / 3);
  while (tail < line.size() && is_inside(tail)) ++tail;
  return line.substr(0, head) + "..." + line.substr(tail);
}

base::Error classify_ort_error(int ort_error_code, std::string_view message) {
  auto code = code_of(ort_error_code);
  for (const auto& rule : kRules)
    if (message.find(rule.text) != std::string_view::npos) {
      code = rule.code;
      break;
    }
  auto error = explain_opset(message);
  if (error.message.empty()) error.message = shorten_ort_message(message);
  if (error.message.empty()) error.message = fmt::format("error code {} without a message", ort_error_code);
  error.code = code;
  for (const auto& advice : kAdvice)
    if (error.hint.empty() && message.find(advice.text) != std::string_view::npos) error.hint = advice.next;
  if (error.hint.empty() && code == ErrorCode::internal && message.find(kFailedNode) != std::string_view::npos)
    error.hint =
        "if the node refuses the generated values, give real ones with --input NAME=VALUE or --input NAME:FILE.npy, or "
        "other sizes with --shape NAME:AxB";
  return std::move(error).in("onnxruntime");
}

std::optional<std::int64_t> requested_bytes(std::string_view text) {
  for (const std::string_view marker : {"buffer of size ", "requested bytes of ", "required memory of "}) {
    auto at = text.rfind(marker);
    if (at == std::string_view::npos) continue;
    at += marker.size();
    const auto digits = text.substr(at, std::min(text.find_first_not_of("0123456789", at), text.size()) - at);
    if (const auto bytes = base::parse_integer(digits, "bytes")) return *bytes;
  }
  return std::nullopt;
}

}  // namespace ridgeline::workload
