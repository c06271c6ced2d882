// SPDX-License-Identifier: Apache-2.0
// Records a landscape for tests/data/landscapes: times every combination of a small grid of ONNX Runtime CPU settings
// on a real model, in random order, then times the fastest sixth again for longer and keeps only that second figure of
// theirs (the minimum of many noisy figures is too low; a fresh one is not).
//   cmake --preset bench && cmake --build build/bench --target record_landscape
//   build/bench/bin/record_landscape LIBRARY MODEL NAME SHAPE(1x3x640x640) latency|throughput CORES "SOURCE" >
//   recorded-NAME.json
#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#define ORT_API_MANUAL_INIT
#include <onnxruntime_cxx_api.h>

namespace {

using Clock = std::chrono::steady_clock;

struct Dimension {
  std::string key;
  std::vector<std::string> values;  ///< as JSON
};

struct Point {
  std::vector<std::size_t> levels;
  double cost = 0;
  double error = 0;  ///< relative standard error of the median
  std::string failure;
};

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

class Recorder {
 public:
  Recorder(std::string model, std::vector<std::int64_t> shape, bool throughput, int cores)
      : model_(std::move(model)), shape_(std::move(shape)), throughput_(throughput), cores_(cores) {
    for (int threads = 1; threads < cores; threads *= 2) threads_.push_back(std::to_string(threads));
    threads_.push_back(std::to_string(cores));
    dimensions_ = {{"intra_op_num_threads", threads_},
                   {"graph_optimization_level", {"\"disable_all\"", "\"basic\"", "\"extended\"", "\"layout\""}},
                   {"intra_op_allow_spinning", {"false"}}};
    if (throughput) {
      dimensions_.push_back({"parallel_sessions", {threads_.begin() + 1, threads_.end()}});
      dimensions_.push_back({"batch_size", {"4", "16"}});
      dimensions_[1].values = {"\"extended\""};
    } else {
      dimensions_.push_back({"execution_mode", {"\"parallel\""}});
      dimensions_.push_back({"inter_op_num_threads", {"2", "4"}});
      dimensions_.push_back({"dynamic_block_base", {"4"}});
    }
  }

  const std::vector<Dimension>& dimensions() const { return dimensions_; }

  /// "" when the setting is left at its default.
  std::string value(const Point& point, const std::string& key) const {
    for (std::size_t at = 0; at < dimensions_.size(); ++at)
      if (dimensions_[at].key == key && point.levels[at] > 0) return dimensions_[at].values[point.levels[at] - 1];
    return "";
  }

  int number(const Point& point, const std::string& key, int unset) const {
    const auto text = value(point, key);
    return text.empty() ? unset : std::stoi(text);
  }

  /// As src/search/relevance.cpp, plus: sessions x threads within the cores.
  bool wanted(const Point& point) const {
    const bool parallel = !value(point, "execution_mode").empty();
    const int threads = number(point, "intra_op_num_threads", cores_);
    const int sessions = number(point, "parallel_sessions", 1);
    if (!parallel && !value(point, "inter_op_num_threads").empty()) return false;
    if (threads == 1 && !value(point, "intra_op_allow_spinning").empty()) return false;
    if (threads == 1 && !value(point, "dynamic_block_base").empty()) return false;
    if (sessions > 1 && (value(point, "intra_op_num_threads").empty() || sessions * threads > cores_)) return false;
    return true;
  }

  std::vector<Point> points() const {
    std::vector<Point> all{{std::vector<std::size_t>(dimensions_.size(), 0)}};
    for (std::size_t at = 0; at < dimensions_.size(); ++at) {
      const auto before = all;
      for (std::size_t level = 1; level <= dimensions_[at].values.size(); ++level)
        for (auto point : before) {
          point.levels[at] = level;
          all.push_back(point);
        }
    }
    std::erase_if(all, [&](const Point& point) { return !wanted(point); });
    return all;
  }

  void measure(Point& point, double budget_s) {
    try {
      point.failure.clear();
      throughput_ ? measure_throughput(point, budget_s) : measure_latency(point, budget_s);
    } catch (const std::exception& error) {
      point.failure = "failed";
      std::fprintf(stderr, "%s\n", error.what());
    }
  }

 private:
  struct Caller {
    Ort::Session session{nullptr};
    std::vector<float> data;
    std::vector<std::int64_t> shape;
    std::string input;
    std::vector<std::string> outputs;

    void run() {
      const auto memory = Ort::MemoryInfo::CreateCpu(OrtArenaAllocator, OrtMemTypeDefault);
      auto tensor = Ort::Value::CreateTensor<float>(memory, data.data(), data.size(), shape.data(), shape.size());
      const char* name = input.c_str();
      std::vector<const char*> names;
      for (const auto& output : outputs) names.push_back(output.c_str());
      session.Run(Ort::RunOptions{nullptr}, &name, &tensor, 1, names.data(), names.size());
    }
  };

  std::unique_ptr<Caller> open(const Point& point) {
    Ort::SessionOptions options;
    const auto level = value(point, "graph_optimization_level");
    static const std::map<std::string, GraphOptimizationLevel> kLevels{
        {"", ORT_ENABLE_ALL},
        {"\"layout\"", static_cast<GraphOptimizationLevel>(3)},
        {"\"extended\"", ORT_ENABLE_EXTENDED},
        {"\"basic\"", ORT_ENABLE_BASIC},
        {"\"disable_all\"", ORT_DISABLE_ALL}};
    options.SetGraphOptimizationLevel(kLevels.at(level));
    options.SetIntraOpNumThreads(number(point, "intra_op_num_threads", 0));
    if (!value(point, "intra_op_allow_spinning").empty())
      options.AddConfigEntry("session.intra_op.allow_spinning", "0");
    if (!value(point, "dynamic_block_base").empty()) options.AddConfigEntry("session.dynamic_block_base", "4");
    if (!value(point, "execution_mode").empty()) {
      options.SetExecutionMode(ORT_PARALLEL);
      options.SetInterOpNumThreads(number(point, "inter_op_num_threads", 0));
    }
    auto caller = std::make_unique<Caller>();
    caller->session = Ort::Session(environment_, model_.c_str(), options);
    caller->shape = shape_;
    caller->shape[0] = number(point, "batch_size", 1);
    std::int64_t elements = 1;
    for (const auto size : caller->shape) elements *= size;
    std::mt19937 random(1);
    for (std::int64_t i = 0; i < elements; ++i)
      caller->data.push_back(std::uniform_real_distribution<float>(-1, 1)(random));
    Ort::AllocatorWithDefaultOptions allocator;
    caller->input = caller->session.GetInputNameAllocated(0, allocator).get();
    for (std::size_t i = 0; i < caller->session.GetOutputCount(); ++i)
      caller->outputs.emplace_back(caller->session.GetOutputNameAllocated(i, allocator).get());
    return caller;
  }

  void measure_latency(Point& point, double budget_s) {
    const auto caller = open(point);
    const auto warm = Clock::now();
    for (int run = 0; run < 3 || (run < 50 && seconds_since(warm) < 0.03); ++run) caller->run();
    std::vector<double> times;
    const auto start = Clock::now();
    while (times.size() < 5 || (seconds_since(start) < budget_s && times.size() < 100'000)) {
      const auto before = Clock::now();
      caller->run();
      times.push_back(seconds_since(before) * 1e9);
    }
    std::sort(times.begin(), times.end());
    const double median = times[times.size() / 2];
    point.cost = median;
    // Normal approximation from the interquartile range: standard error of the median.
    point.error =
        1.2533 * (times[times.size() * 3 / 4] - times[times.size() / 4]) / 1.349 / median / std::sqrt(times.size());
  }

  void measure_throughput(Point& point, double budget_s) {
    const int sessions = number(point, "parallel_sessions", 1);
    std::vector<std::unique_ptr<Caller>> concurrency;
    for (int i = 0; i < sessions; ++i) concurrency.push_back(open(point));
    std::atomic<bool> stop{false};
    std::atomic<long> runs{0};
    std::atomic<int> ready{0};
    std::vector<std::thread> threads;
    for (auto& caller : concurrency)
      threads.emplace_back([&, caller = caller.get()] {
        for (int run = 0; run < 3; ++run) caller->run();
        ++ready;
        while (!stop) {
          caller->run();
          ++runs;
        }
      });
    while (ready < sessions) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const auto start = Clock::now();
    const long before = runs;
    while (seconds_since(start) < budget_s || runs - before < 3 * sessions)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const double elapsed = seconds_since(start);
    const long done = runs - before;
    stop = true;
    for (auto& thread : threads) thread.join();
    point.cost = elapsed * 1e9 / (static_cast<double>(done) * number(point, "batch_size", 1));
    point.error = 0.01;
  }

  std::string model_;
  std::vector<std::int64_t> shape_;
  bool throughput_;
  int cores_;
  std::vector<std::string> threads_;
  std::vector<Dimension> dimensions_;
  Ort::Env environment_{ORT_LOGGING_LEVEL_ERROR};
};

std::vector<std::int64_t> parse_shape(const std::string& text) {
  std::vector<std::int64_t> shape;
  for (std::size_t at = 0; at <= text.size();) {
    const auto end = std::min(text.find('x', at), text.size());
    shape.push_back(std::stoll(text.substr(at, end - at)));
    at = end + 1;
  }
  return shape;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 8) {
    std::fprintf(stderr, "usage: record_landscape LIBRARY MODEL NAME SHAPE latency|throughput CORES SOURCE\n");
    return 2;
  }
  void* library = dlopen(argv[1], RTLD_NOW);
  using GetBase = const OrtApiBase* (*)();
  const auto get_base = library != nullptr ? reinterpret_cast<GetBase>(dlsym(library, "OrtGetApiBase")) : nullptr;
  if (get_base == nullptr) {
    std::fprintf(stderr, "%s: %s\n", argv[1], dlerror());
    return 1;
  }
  Ort::InitApi(get_base()->GetApi(ORT_API_VERSION));
  Recorder recorder(argv[2], parse_shape(argv[4]), std::string(argv[5]) == "throughput", std::stoi(argv[6]));
  auto points = recorder.points();
  std::vector<std::size_t> order(points.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::mt19937 random(7);
  std::shuffle(order.begin(), order.end(), random);
  const auto start = Clock::now();
  for (const auto at : order) recorder.measure(points[at], 0.12);
  std::sort(order.begin(), order.end(), [&](auto a, auto b) {
    return (points[a].failure.empty() ? points[a].cost : HUGE_VAL) <
           (points[b].failure.empty() ? points[b].cost : HUGE_VAL);
  });
  order.resize(points.size() / 6);
  std::shuffle(order.begin(), order.end(), random);
  for (const auto at : order) recorder.measure(points[at], 0.5);
  std::vector<double> errors;
  for (const auto at : order) errors.push_back(points[at].error);
  std::sort(errors.begin(), errors.end());
  std::fprintf(stderr, "%s: %zu points in %.0f s\n", argv[3], points.size(), seconds_since(start));

  std::printf(
      "{\"name\": \"%s\", \"origin\": \"recorded\", \"source\": \"%s; ONNX Runtime %s, input %s, %s\", \"noise\": "
      "%.4f,\n",
      argv[3], argv[7], get_base()->GetVersionString(), argv[4], argv[5], errors[errors.size() / 2]);
  std::printf(" \"dimensions\": [");
  for (std::size_t at = 0; at < recorder.dimensions().size(); ++at) {
    const auto& dimension = recorder.dimensions()[at];
    std::printf("%s{\"key\": \"%s\", \"values\": [", at == 0 ? "" : ",\n  ", dimension.key.c_str());
    for (std::size_t i = 0; i < dimension.values.size(); ++i)
      std::printf("%s%s", i == 0 ? "" : ", ", dimension.values[i].c_str());
    std::printf("]}");
  }
  std::printf("],\n \"rows\": [");
  for (std::size_t i = 0; i < points.size(); ++i) {
    std::printf("%s\n[", i == 0 ? "" : ",");
    for (const auto level : points[i].levels) std::printf("%zu,", level);
    points[i].failure.empty() ? std::printf("%.0f]", points[i].cost)
                              : std::printf("\"%s\"]", points[i].failure.c_str());
  }
  std::printf("\n]}\n");
}
