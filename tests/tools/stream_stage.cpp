// SPDX-License-Identifier: Apache-2.0
// One stage of the frame pipeline on a file of raw values, for scripts that compare it with other tools.
//   rl_stream_stage preprocess FRAME.bgr WxH MODEL_WxMODEL_H|-1x-1 MEAN STD REPEATS OUT.f32
//   rl_stream_stage decode DECODER FRAME_WxFRAME_H INPUT_WxINPUT_H REPEATS VALUES.f32:DIMxDIM...
// preprocess takes the frame stretched to a multiple of 32, as RGB floats in NCHW. Prints a line of JSON: the result,
// and milliseconds of each repeat.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

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
  const auto model = numbers(args[2]);
  stream::PreprocessOptions options;
  options.resize = stream::Resize::stretch;
  options.mean.fill(std::strtof(args[3].c_str(), nullptr));
  options.deviation.fill(std::strtof(args[4].c_str(), nullptr));
  const stream::Image image{static_cast<int>(size[0]), static_cast<int>(size[1]), stream::PixelFormat::bgr24,
                            read_bytes(args[0])};
  stream::Preprocessor preprocessor(options);
  const auto geometry =
      take(preprocessor.plan(image.width, image.height, static_cast<int>(model[0]), static_cast<int>(model[1])));
  std::vector<float> out(preprocessor.elements(geometry));
  const auto times = time_repeats(std::atoi(args[5].c_str()), [&] { take(preprocessor.run(image, geometry, out)); });
  std::ofstream(args[6], std::ios::binary)
      .write(reinterpret_cast<const char*>(out.data()), static_cast<std::streamsize>(out.size() * sizeof(float)));
  fmt::print("{{\"result\":[{},{}],\"ms\":{}}}\n", geometry.input_width, geometry.input_height, times);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  if (args.size() == 8 && args[0] == "preprocess")
    preprocess({args.begin() + 1, args.end()});
  else
    stop("rl_stream_stage preprocess|decode ...; see tests/tools/stream_stage.cpp");
  return 0;
}
