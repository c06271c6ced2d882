// SPDX-License-Identifier: Apache-2.0
#include "trace/import/ncu_import.hpp"

#include <cmath>
#include <numeric>

#include "fakes/words.hpp"
#include "trace/import/printed_number.hpp"
#include "trace_files.hpp"

namespace ridgeline::trace {
namespace {

using NcuImportTest = TraceFilesTest;

TEST(PrintedNumber, is_read_in_any_locale) {
  for (const auto& [text, value] : std::vector<std::pair<std::string, double>>{{"2,000,000", 2e6},
                                                                               {"13,973.33", 13973.33},
                                                                               {"9,00", 9},
                                                                               {"9,000", 9000},
                                                                               {"1.234,56", 1234.56},
                                                                               {"1.234.567", 1234567},
                                                                               {"1.234", 1.234},
                                                                               {"-0.5", -0.5},
                                                                               {"1e-3", 1e-3},
                                                                               {"0", 0}})
    EXPECT_EQ(printed_number(text), value) << text;
  for (const auto* text : {"", "n/a", "(nan)", "nan", "inf", "abc", "1 2", "--1"})
    EXPECT_EQ(printed_number(text), std::nullopt) << text;
}

TEST(PrintedNumber, units_are_of_one_base) {
  for (const auto& [text, base, factor] :
       std::vector<std::tuple<std::string, std::string, double>>{{"usecond", "ns", 1e3},
                                                                 {"ms", "ns", 1e6},
                                                                 {"Mbyte", "byte", 1e6},
                                                                 {"byte", "byte", 1},
                                                                 {"Gbyte/second", "byte/s", 1e9},
                                                                 {"byte/us", "byte/s", 1e6},
                                                                 {"Kbyte/block", "byte/block", 1e3},
                                                                 {"Ghz", "hz", 1e9},
                                                                 {"%", "%", 1},
                                                                 {"", "", 1},
                                                                 {"Kelvin", "Kelvin", 1}}) {
    EXPECT_EQ(unit_of(text).base, base) << text;
    EXPECT_EQ(unit_of(text).factor, factor) << text;
  }
}

TEST_F(NcuImportTest, reads_the_wide_form_among_what_a_program_prints) {
  const auto counters = import_ncu(
      write("==PROF== Connected to process 5\nloss 0.3, \"ID\" 4\n"
            "\"ID\",\"Process ID\",\"Process Name\",\"Kernel Name\",\"Context\",\"Stream\",\"Block Size\",\"Grid "
            "Size\",\"Device\","
            "\"device__attribute_chip\",\"dram__bytes_read.sum\",\"gpu__time_duration.sum\"\r\n"
            "\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"Kbyte\",\"usecond\"\r\n"
            "\"0\",\"5\",\"app\",\"void k<float, \"\"x\"\">(const T1 *)\",\"1\",\"7\",\"(256, 1, 1)\",\"(3, 4, "
            "5)\",\"1\",\"384\",\"1,024\",\"2.5\"\r\n"
            "step 2 done\n"
            "\"1\",\"5\",\"app\",\"k2\",\"1\",\"7\",\"(32, 1, 1)\",\"(1, 1, 1)\",\"1\",\"384\",\"n/a\",\"3\"\n"
            "\"2\",\"5\",\"cut\n==PROF== Disconnected\n"));
  ASSERT_TRUE(counters) << counters.error().message;
  ASSERT_EQ(counters->size(), 2U);
  EXPECT_EQ(counters->strings.text(counters->name[0]), "void k<float, \"x\">(const T1 *)");
  EXPECT_EQ(counters->grid[0], (Dim3{3, 4, 5}));
  EXPECT_EQ(counters->block[0], (Dim3{256, 1, 1}));
  EXPECT_EQ(counters->device[0], 1);
  EXPECT_EQ(counters->stream[0], 7);
  ASSERT_EQ(counters->metrics.size(), 2U) << "the chip is no metric of a kernel";
  const auto* bytes = counters->find("dram__bytes_read.sum");
  EXPECT_EQ(bytes->unit, "byte");
  EXPECT_EQ(bytes->values[0], 1'024'000);
  EXPECT_TRUE(std::isnan(bytes->values[1]));
  EXPECT_EQ(counters->find("gpu__time_duration.sum")->values, (std::vector<double>{2500, 3000}));
  EXPECT_EQ(fakes::texts_of(counters->notes),
            (std::vector<std::string>{"lines whose number of values differs from the header's, left out: 1",
                                      "values that are not numbers, or negative, left out: 1"}));
}

TEST_F(NcuImportTest, reads_the_long_form) {
  const auto counters = import_ncu(
      write("\"ID\",\"Process ID\",\"Process Name\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"Device\",\"Section "
            "Name\",\"Metric Name\","
            "\"Metric Unit\",\"Metric Value\"\n"
            "\"0\",\"5\",\"app\",\"k\",\"(1, 1, 1)\",\"(2, 1, 1)\",\"0\",\"x\",\"Duration\",\"us\",\"9,00\"\n"
            "\"0\",\"5\",\"app\",\"k\",\"(1, 1, 1)\",\"(2, 1, 1)\",\"0\",\"x\",\"DRAM Throughput\",\"%\",\"12,5\"\n"
            "\"1\",\"5\",\"app\",\"k\",\"(1, 1, 1)\",\"(2, 1, 1)\",\"0\",\"x\",\"DRAM Throughput\",\"%\",\"13\"\n"));
  ASSERT_TRUE(counters) << counters.error().message;
  ASSERT_EQ(counters->size(), 2U);
  EXPECT_EQ(counters->find("Duration")->values[0], 9000);
  EXPECT_TRUE(std::isnan(counters->find("Duration")->values[1]));
  EXPECT_EQ(counters->find("DRAM Throughput")->values, (std::vector<double>{12.5, 13}));
}

TEST_F(NcuImportTest, two_metrics_of_one_name_stay_apart) {
  const std::string row = "\"0\",\"5\",\"app\",\"k\",\"(1, 1, 1)\",\"(2, 1, 1)\",\"0\",";
  const auto counters = import_ncu(
      write("\"ID\",\"Process ID\",\"Process Name\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"Device\",\"Section "
            "Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n" +
            row + "\"GPU Speed Of Light Throughput\",\"Memory Throughput\",\"%\",\"38\"\n" + row +
            "\"Memory Workload Analysis\",\"Memory Throughput\",\"Gbyte/second\",\"900\"\n"));
  ASSERT_TRUE(counters) << counters.error().message;
  EXPECT_EQ(counters->find("Memory Throughput")->values, std::vector<double>{38});
  EXPECT_EQ(counters->find("Memory Throughput (byte/s)")->values, std::vector<double>{9e11});
}

TEST_F(NcuImportTest, a_launch_that_is_there_twice_counts_once) {
  const auto header = [](const std::string& metric) {
    return "\"ID\",\"Process ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"" + metric + "\"\n";
  };
  const auto row = [](int id, int process, const std::string& value) {
    return fmt::format("\"{}\",\"{}\",\"k\",\"(1, 1, 1)\",\"(2, 1, 1)\",\"{}\"\n", id, process, value);
  };
  const std::string again =
      "launches whose counters are in the file again, as from a second report; their later values "
      "are left out: 2";
  // The same rows; those of a second run of the program.
  for (const auto& second : {row(0, 5, "7") + row(1, 5, "8"), header("a__x.sum") + row(0, 6, "7") + row(1, 6, "8")}) {
    const auto counters = import_ncu(write(header("a__x.sum") + row(0, 5, "3") + row(1, 5, "4") + second));
    ASSERT_TRUE(counters) << counters.error().message;
    ASSERT_EQ(counters->size(), 2U);
    EXPECT_EQ(counters->find("a__x.sum")->values, (std::vector<double>{3, 4}));
    EXPECT_EQ(fakes::texts_of(counters->notes), std::vector<std::string>{again});
  }
  // Metrics of another run are of the same launches; processes of one report are two.
  const auto more = import_ncu(write(header("a__x.sum") + row(0, 5, "3") + row(0, 6, "4") + header("a__y.sum") +
                                     row(0, 7, "5") + row(0, 8, "6")));
  ASSERT_TRUE(more) << more.error().message;
  EXPECT_EQ(more->find("a__x.sum")->values, (std::vector<double>{3, 4}));
  EXPECT_EQ(more->find("a__y.sum")->values, (std::vector<double>{5, 6}));
  EXPECT_TRUE(more->notes.empty());
}

TEST_F(NcuImportTest, says_in_one_line_what_a_file_lacks) {
  for (const auto& [content, words] :
       std::vector<std::pair<std::string, std::string>>{{"", "no table of ncu"},
                                                        {"hello\nworld\n", "no table of ncu"},
                                                        {"\"ID\",\"Kernel Name\"\n==PROF== nothing\n", "no kernels"},
                                                        {std::string("\0\0\"ID\"\0", 7), "no table of ncu"}}) {
    const auto counters = import_ncu(write(content, "kernels.csv"));
    ASSERT_FALSE(counters) << content;
    EXPECT_NE(counters.error().message.find(words), std::string::npos) << counters.error().message;
    EXPECT_NE(counters.error().hint.find("ncu --csv"), std::string::npos);
  }
  EXPECT_EQ(import_ncu((folder_ / "none.csv").string()).error().code, base::ErrorCode::io);
}

TEST_F(NcuImportTest, a_real_recording_is_complete) {
  const auto path = std::filesystem::path(RL_SOURCE_DIR) / ".." / "shared" / "data" / "ncu_resnet50.csv.gz";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not here";
  const auto counters = import_ncu(path.string());
  ASSERT_TRUE(counters) << counters.error().message;
  EXPECT_EQ(counters->size(), 400U);
  EXPECT_TRUE(counters->notes.empty());
  const auto* time = counters->find("gpu__time_duration.sum");
  const auto* bytes = counters->find("dram__bytes_read.sum");
  ASSERT_TRUE(time != nullptr && bytes != nullptr);
  EXPECT_EQ(time->unit, "ns");
  EXPECT_EQ(bytes->unit, "byte");
  // Summed by a CSV reader of another language.
  EXPECT_NEAR(std::accumulate(time->values.begin(), time->values.end(), 0.0), 1982048.0, 1);
  EXPECT_NEAR(std::accumulate(bytes->values.begin(), bytes->values.end(), 0.0), 611223296.0, 1e3);
}

}  // namespace
}  // namespace ridgeline::trace
