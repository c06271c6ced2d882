// SPDX-License-Identifier: Apache-2.0
// One stage of the frame pipeline on a file of raw values, for scripts that compare it with other tools.
//   rl_stream_stage preprocess FRAME.bgr WxH MODEL_WxMODEL_H|-1x-1 MEAN STD REPEATS OUT.f32
//   rl_stream_stage decode DECODER FRAME_WxFRAME_H INPUT_WxINPUT_H REPEATS VALUES.f32:DIMxDIM...
// preprocess takes the frame stretched to a multiple of 32, as RGB floats in NCHW. Prints a line of JSON: the result,
// and milliseconds of each repeat.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stream/decoders/make_decoder.hpp"
#include "stream/decoders/output_checks.hpp"
#include "stream/preprocessor.hpp"

namespace {

using namespace ridgeline;  // a program, not a library

[[noreturn]] void stop(std::string_view message) {
  fmt::print(stderr, "{}\n", message);
  std::exit(2);
}

template <typename T>
T take(base::Result<T> result) {
  if (!result) stop(base::error_line(result.error()));
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

std::vector<std::int64_t> numbers(std::string_view text) {
  std::vector<std::int64_t> found;
  while (!text.empty()) {
    const auto end = std::min(text.find('x'), text.size());
    found.push_back(std::atoll(std::string(text.substr(0, end)).c_str()));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return found;
}

std::vector<std::uint8_t> read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) stop(path + ": cannot be read");
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

template <typename Call>
std::vector<double> time_repeats(int repeats, Call call) {
  std::vector<double> times;
  times.reserve(static_cast<std::size_t>(repeats));
  for (int i = 0; i < repeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    call();
    times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  return times;
}

void preprocess(const std::vector<std::string>& args) {
  const auto size = numbers(args[1]);
  stream::PreprocessOptions options;
  options.mean.fill(std::strtof(args[2].c_str(), nullptr));
  options.deviation.fill(std::strtof(args[3].c_str(), nullptr));
  const stream::Image image{static_cast<int>(size.at(0)), static_cast<int>(size.at(1)), stream::PixelFormat::bgr24,
                            read_bytes(args[0])};
  stream::Preprocessor preprocessor(options);
  const auto geometry = take(preprocessor.plan(image.width, image.height, -1, -1));
  std::vector<float> out(preprocessor.elements(geometry));
  const auto times = time_repeats(std::atoi(args[4].c_str()), [&] { take(preprocessor.run(image, geometry, out)); });
  std::ofstream(args[5], std::ios::binary)
      .write(reinterpret_cast<const char*>(out.data()), static_cast<std::streamsize>(out.size() * sizeof(float)));
  fmt::print("{{\"result\":[{},{}],\"ms\":{}}}\n", geometry.input_width, geometry.input_height, times);
}

/// NAME:DIMxDIM:FILE.
struct StoredOutput {
  std::string name;
  std::vector<std::int64_t> dims;
  std::vector<float> values;
};

StoredOutput read_output(const std::string& text) {
  const auto first = text.find(':');
  const auto second = text.find(':', first + 1);
  if (second == std::string::npos) stop(text + ": expected NAME:DIMxDIM:FILE");
  StoredOutput output{text.substr(0, first), numbers(text.substr(first + 1, second - first - 1)), {}};
  const auto bytes = read_bytes(text.substr(second + 1));
  output.values.resize(bytes.size() / sizeof(float));
  std::memcpy(output.values.data(), bytes.data(), output.values.size() * sizeof(float));
  return output;
}

void decode(const std::vector<std::string>& args) {
  const auto frame = numbers(args[1]);
  const auto input = numbers(args[2]);
  stream::FrameGeometry geometry;
  geometry.frame_width = static_cast<int>(frame.at(0));
  geometry.frame_height = static_cast<int>(frame.at(1));
  geometry.input_width = static_cast<int>(input.at(0));
  geometry.input_height = static_cast<int>(input.at(1));
  geometry.scale_x = static_cast<double>(input[0]) / static_cast<double>(frame[0]);
  geometry.scale_y = static_cast<double>(input[1]) / static_cast<double>(frame[1]);
  std::vector<StoredOutput> stored;
  for (std::size_t i = 4; i < args.size(); ++i) stored.push_back(read_output(args[i]));
  std::vector<stream::OutputView> views;
  for (const auto& output : stored) views.push_back({output.name, output.dims, output.values});
  const auto decoder =
      take(stream::make_decoder(args[0], {}, stream::shapes_of(views), geometry.input_width, geometry.input_height));
  std::string json;
  const auto times = time_repeats(std::atoi(args[3].c_str()), [&] {
    json.clear();
    take(decoder->decode(views, geometry, json));
  });
  fmt::print("{{\"result\":{},\"ms\":{}}}\n", json, times);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  if (args.size() == 7 && args[0] == "preprocess")
    preprocess({args.begin() + 1, args.end()});
  else if (args.size() >= 6 && args[0] == "decode")
    decode({args.begin() + 1, args.end()});
  else
    stop("rl_stream_stage preprocess|decode ...; see tests/tools/stream_stage.cpp");
  return 0;
}
