// SPDX-License-Identifier: Apache-2.0
#include "trace/import/nsys_import.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include "fakes/words.hpp"
#include "trace/analysis/tables.hpp"
#include "trace/findings/find_savings.hpp"
#include "trace/messages.hpp"
#include "trace_files.hpp"

namespace ridgeline::trace {
namespace {

class NsysImportTest : public TraceFilesTest {
 protected:
  std::string made(const std::string& statements, const std::string& name = "run.sqlite") {
    const auto path = (folder_ / name).string();
    std::filesystem::remove(path);
    sqlite3* handle = nullptr;
    EXPECT_EQ(::sqlite3_open(path.c_str(), &handle), SQLITE_OK);
    char* problem = nullptr;
    EXPECT_EQ(::sqlite3_exec(handle, statements.c_str(), nullptr, nullptr, &problem), SQLITE_OK) << problem;
    ::sqlite3_close(handle);
    return path;
  }
};

/// 5 << 24 | 6.
constexpr const char* kThread = "83886086";
constexpr const char* kKernel =
    "CREATE TABLE StringIds(id, value); INSERT INTO StringIds VALUES "
    "(1,'gemm'),(2,'cudaLaunchKernel_v7000'),(3,'step');"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(streamId, start, end, deviceId, shortName, gridX, gridY, gridZ, "
    "correlationId, globalPid, staticSharedMemory, dynamicSharedMemory);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (7, 100, 250, 1, 1, 4, 5, 6, 44, 83886080, 16, 32);";

TEST_F(NsysImportTest, a_bandwidth_that_no_gpu_has_is_named_and_not_used) {
  const auto trace = import_nsys(made(std::string(kKernel) +
                                      "CREATE TABLE TARGET_INFO_GPU(name, id, memoryBandwidth);"
                                      "INSERT INTO TARGET_INFO_GPU VALUES ('A100', 0, 1555), ('T4', 1, NULL);"));
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->devices.at(0).memory_bytes_per_s, 0);
  EXPECT_EQ(fakes::texts_of(trace->notes),
            std::vector<std::string>{
                "TARGET_INFO_GPU gives a memory bandwidth of 1555 bytes/s, which is impossible: it is not used"});
}

TEST_F(NsysImportTest, finds_columns_by_name_and_does_without_those_that_are_missing) {
  const auto trace =
      import_nsys(made(std::string(kKernel) +
                       "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start, end, globalTid, nameId, correlationId);"
                       "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (90, 95, " +
                       kThread +
                       ", 2, 44);"
                       "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start, end, bytes, copyKind);"
                       "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (1, 2, 4096, 1), (3, NULL, 1, 1);"
                       "CREATE TABLE NVTX_EVENTS(start, end, eventType, text, textId, globalTid);"
                       "INSERT INTO NVTX_EVENTS VALUES (10, 300, 59, NULL, 3, " +
                       kThread + "), (20, 30, 60, 'own', NULL, " + kThread +
                       "), (20, NULL, 34, 'mark', NULL, 1);"
                       "CREATE TABLE TARGET_INFO_GPU(name, id, smMajor, smMinor, smCount, memoryBandwidth);"
                       "INSERT INTO TARGET_INFO_GPU VALUES ('NVIDIA H100', 1, 9, 0, 132, 3352320000000);"));
  ASSERT_TRUE(trace) << trace.error().message;
  ASSERT_EQ(trace->kernels.size(), 1U);
  const auto& kernels = trace->kernels;
  EXPECT_EQ(trace->strings.text(kernels.name[0]), "gemm");
  EXPECT_EQ(kernels.start_ns[0], 100);
  EXPECT_EQ(kernels.duration_ns[0], 150);
  EXPECT_EQ(kernels.grid[0], (Dim3{4, 5, 6}));
  EXPECT_EQ(kernels.block[0], (Dim3{0, 0, 0}));
  EXPECT_EQ(kernels.shared_bytes[0], 48);
  EXPECT_EQ(trace->gpu_lanes[kernels.lane[0]], (GpuLane{5, 1, 0, 7}));
  ASSERT_EQ(trace->calls.size(), 1U);
  EXPECT_EQ(trace->strings.text(trace->calls.name[0]), "cudaLaunchKernel_v7000");
  EXPECT_EQ(trace->thread_lanes[trace->calls.lane[0]], (ThreadLane{5, 6}));
  ASSERT_EQ(trace->copies.size(), 1U) << "the second has no end";
  EXPECT_EQ(trace->strings.text(trace->copies.name[0]), "Memcpy HtoD");
  ASSERT_EQ(trace->ranges.size(), 2U);
  EXPECT_EQ(trace->strings.text(trace->ranges.name[0]), "step");
  EXPECT_EQ(trace->strings.text(trace->ranges.name[1]), "own");
  EXPECT_EQ(trace->devices.at(0).compute_capability, "9.0");
  EXPECT_EQ(trace->devices.at(0).memory_bytes_per_s, 3'352'320'000'000);
  EXPECT_EQ(tables_of(AnalysedTrace(*trace)).devices.back().memory_bytes_per_s, 3'352'320'000'000);
}

constexpr const char* kGraphs =
    "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE(start, end, deviceId, graphId, contextId, streamId, correlationId, "
    "globalPid);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (300, 900, 1, 12, 1, 7, 45, 83886080), "
    "(1000, 1500, 1, 12, 1, 7, 46, 83886080);";

TEST_F(NsysImportTest, graphs_that_were_recorded_as_a_whole_are_work_and_say_so) {
  const auto beside = import_nsys(made(std::string(kKernel) + kGraphs));
  ASSERT_TRUE(beside) << beside.error().message;
  EXPECT_EQ(beside->kernels.duration_ns, (std::vector<std::int64_t>{150, 600, 500}));
  EXPECT_EQ(beside->strings.text(beside->kernels.name[1]), "CUDA graph 12");
  EXPECT_EQ(beside->kernels.correlation[2], 46);
  EXPECT_EQ(beside->gpu_lanes[beside->kernels.lane[1]], (GpuLane{5, 1, 1, 7}));
  EXPECT_EQ(beside->kernels.grid.size(), 3U);
  const auto tables = tables_of(AnalysedTrace(*beside));
  EXPECT_EQ(tables.devices.front().kernels, 1) << "a graph is work, but no kernel";
  EXPECT_EQ(tables.devices.front().graph_launches, 2);
  EXPECT_EQ(tables.modules.front().kernels, 1);
  ASSERT_EQ(beside->notes.size(), 1U);
  EXPECT_NE(fakes::text_of(beside->notes[0]).find("2 launches"), std::string::npos) << fakes::text_of(beside->notes[0]);
  EXPECT_NE(fakes::text_of(beside->notes[0]).find("--cuda-graph-trace=node"), std::string::npos)
      << fakes::text_of(beside->notes[0]);
  const auto alone = import_nsys(made(std::string("CREATE TABLE StringIds(id, value);") + kGraphs));
  ASSERT_TRUE(alone) << alone.error().message;
  EXPECT_EQ(alone->kernels.size(), 2U);
}

TEST_F(NsysImportTest, the_note_on_graphs_counts_those_that_are_left) {
  const auto trace = import_nsys(made(std::string(kKernel) + kGraphs +
                                      "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (300, 900, 1, 12, 1, 7, 45, "
                                      "83886080), (0, 700, 1, 12, 1, 7, 47, 83886080);"));
  ASSERT_TRUE(trace) << trace.error().message;
  const auto notes = fakes::texts_of(trace->notes);
  ASSERT_FALSE(notes.empty());
  const auto left = trace->kernels.size() - 1;
  EXPECT_NE(notes[0].find(fmt::format("{} launches", left)), std::string::npos) << notes[0];
  EXPECT_LT(left, 4U);
}

TEST_F(NsysImportTest, a_graph_whose_kernels_are_there_does_not_count_twice) {
  const auto trace =
      import_nsys(made(std::string(kKernel) + kGraphs + "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET correlationId = 45;"));
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->kernels.duration_ns, (std::vector<std::int64_t>{150, 500}));
}

TEST_F(NsysImportTest, reads_every_version_of_a_table_and_what_several_have_once) {
  const auto ranges = [](const std::string& table, const std::string& text) {
    return "CREATE TABLE " + table + "(start, end, eventType, text, globalTid); INSERT INTO " + table +
           " VALUES (1, 2, 59, '" + text + "', 1);";
  };
  const auto newer = import_nsys(made(kKernel + ranges("NVTX_EVENTS_V2", "backbone")));
  ASSERT_TRUE(newer) << newer.error().message;
  ASSERT_EQ(newer->ranges.size(), 1U);
  EXPECT_EQ(newer->strings.text(newer->ranges.name[0]), "backbone");
  EXPECT_TRUE(newer->notes.empty());
  const auto both = import_nsys(made(kKernel + ranges("NVTX_EVENTS", "old") + ranges("NVTX_EVENTS_V2", "new")));
  ASSERT_TRUE(both) << both.error().message;
  ASSERT_EQ(both->ranges.size(), 2U) << "neither has all";
  EXPECT_TRUE(both->notes.empty());
  const auto same = import_nsys(made(kKernel + ranges("NVTX_EVENTS", "one") + ranges("NVTX_EVENTS_V2", "one")));
  ASSERT_TRUE(same) << same.error().message;
  EXPECT_EQ(same->ranges.size(), 1U) << "the same range, written twice";
  const auto empty = import_nsys(
      made(kKernel + ranges("NVTX_EVENTS", "old") + "CREATE TABLE NVTX_EVENTS_V2(start, end, eventType, text);"));
  ASSERT_TRUE(empty) << empty.error().message;
  EXPECT_EQ(empty->ranges.size(), 1U);
  EXPECT_TRUE(empty->notes.empty());
}

TEST_F(NsysImportTest, names_what_it_leaves_out) {
  const std::string other =
      "CREATE TABLE CUPTI_ACTIVITY_KIND_CDP_KERNEL(start, end, deviceId); INSERT INTO CUPTI_ACTIVITY_KIND_CDP_KERNEL "
      "VALUES (1, 2, 0), (3, 4, 0);"
      "CREATE TABLE VULKAN_WORKLOAD(start, end, gpu); INSERT INTO VULKAN_WORKLOAD VALUES (1, 2, 0);"
      "CREATE TABLE OSRT_API(start, end, globalTid); INSERT INTO OSRT_API VALUES (1, 2, 0);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_OPENACC_LAUNCH(start, end, globalTid, deviceId); INSERT INTO "
      "CUPTI_ACTIVITY_KIND_OPENACC_LAUNCH VALUES (1, 2, 0, 0);"
      "CREATE TABLE CUDA_UM_GPU_PAGE_FAULT_EVENTS(start, end, deviceId); INSERT INTO CUDA_UM_GPU_PAGE_FAULT_EVENTS "
      "VALUES (1, 2, 0);";
  const auto trace =
      import_nsys(made(kKernel + other + "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL(start, end) VALUES (NULL, 3);"));
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(fakes::texts_of(trace->notes),
            (std::vector<std::string>{"rows without a start or an end, left out: 1 of CUPTI_ACTIVITY_KIND_KERNEL",
                                      "tables with work that are not read: CUPTI_ACTIVITY_KIND_CDP_KERNEL (2 rows), "
                                      "VULKAN_WORKLOAD (1 row)",
                                      fakes::text_of(messages::lacks_work())}));
  const auto none = import_nsys(made("CREATE TABLE StringIds(id, value);" + other));
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("CUPTI_ACTIVITY_KIND_CDP_KERNEL (2 rows)"), std::string::npos)
      << none.error().message;
}

TEST_F(NsysImportTest, work_in_tables_that_are_not_read_leaves_idle_time_without_causes) {
  std::string rows = kKernel;
  for (int i = 1; i < 10; ++i)
    rows += fmt::format(
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (7, {}, {}, 1, 1, 4, 5, 6, {}, 83886080, 16, 32);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES ({}, {}, {}, 2, {});",
        1'000'000 * i, 1'000'000 * i + 300'000, 100 + i, 1'000'000 * i - 20'000, 1'000'000 * i - 15'000, kThread,
        100 + i);
  const std::string calls = "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start, end, globalTid, nameId, correlationId);";
  const auto all = import_nsys(made(calls + rows));
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_FALSE(all->lacks_work);
  const auto findings_of = [](const Trace& trace) {
    const AnalysedTrace analysed(trace);
    return find_savings(analysed, tables_of(analysed));
  };
  EXPECT_FALSE(findings_of(*all).empty());
  const auto some = import_nsys(made(calls + rows +
                                     "CREATE TABLE CUPTI_ACTIVITY_KIND_CDP_KERNEL(start, end, deviceId); INSERT INTO "
                                     "CUPTI_ACTIVITY_KIND_CDP_KERNEL VALUES (1, 2, 0);"));
  ASSERT_TRUE(some) << some.error().message;
  EXPECT_TRUE(some->lacks_work);
  EXPECT_TRUE(findings_of(*some).empty());
  const auto tables = tables_of(AnalysedTrace(*some));
  for (const auto& idle : tables.devices.front().idle) EXPECT_EQ(idle.cause, schema::IdleCause::unknown);
}

TEST_F(NsysImportTest, kernels_of_both_tables_are_work) {
  const auto trace = import_nsys(made(
      std::string(kKernel) +
      "CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL AS SELECT * FROM CUPTI_ACTIVITY_KIND_KERNEL;"
      "INSERT INTO CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL VALUES (9, 300, 400, 1, 1, 4, 5, 6, 45, 83886080, 0, 0);"));
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->kernels.duration_ns, (std::vector<std::int64_t>{150, 100})) << "one of them stands in both";
  EXPECT_TRUE(trace->notes.empty());
  EXPECT_FALSE(trace->lacks_work);
}

TEST_F(NsysImportTest, work_without_a_process_is_that_of_the_only_one) {
  const auto one = import_nsys(made(std::string(kKernel) +
                                    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL(streamId, start, end, deviceId, shortName) "
                                    "VALUES (7, 300, 400, 1, 1);"));
  ASSERT_TRUE(one) << one.error().message;
  EXPECT_EQ(one->gpu_lanes.size(), 1U);
  const auto devices = tables_of(AnalysedTrace(*one)).devices;
  ASSERT_EQ(devices.size(), 1U);
  EXPECT_EQ(devices.front().kernels, 2);
  EXPECT_EQ(devices.front().process, 5);
}

TEST_F(NsysImportTest, ranges_without_a_text_have_a_name_that_says_so) {
  const auto trace = import_nsys(
      made(std::string(kKernel) +
           "CREATE TABLE NVTX_EVENTS(start, end, eventType, text, textId, globalTid); INSERT INTO NVTX_EVENTS VALUES "
           "(1, 2, 59, NULL, 999, 1), (3, 4, 59, '', NULL, 1), (5, 6, 59, 'named', NULL, 1);"));
  ASSERT_TRUE(trace) << trace.error().message;
  ASSERT_EQ(trace->ranges.size(), 3U);
  EXPECT_EQ(trace->strings.text(trace->ranges.name[0]), "(unnamed range)");
  EXPECT_EQ(fakes::texts_of(trace->notes),
            (std::vector<std::string>{"NVTX ranges without a text, shown as (unnamed range): 2"}));
}

TEST_F(NsysImportTest, bears_hostile_values) {
  const auto trace = import_nsys(made(
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, demangledName, gridX, staticSharedMemory, "
      "dynamicSharedMemory);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (-9223372036854775807, 9223372036854775807, 99999999999, 77, "
      "99999999999, 2147483647, 2147483647), ('text', x'00', NULL, 'x', NULL, NULL, NULL), (5, 2, 0, NULL, 1, 1, 1), "
      "(5, 9, 99999999999, 77, 99999999999, 2147483647, 2147483647);"));
  ASSERT_TRUE(trace) << trace.error().message;
  ASSERT_EQ(trace->kernels.size(), 1U);
  EXPECT_EQ(trace->kernels.duration_ns, (std::vector<std::int64_t>{4}));
  EXPECT_EQ(trace->strings.text(trace->kernels.name[0]), "(unnamed kernel)");
  EXPECT_EQ(fakes::texts_of(trace->notes),
            (std::vector<std::string>{"rows without a start or an end, left out: 1 of CUPTI_ACTIVITY_KIND_KERNEL",
                                      "rows with an end before the start, or centuries after it, left out: 2 of "
                                      "CUPTI_ACTIVITY_KIND_KERNEL"}));
  EXPECT_EQ(trace->kernels.shared_bytes[0], 0);
}

TEST_F(NsysImportTest, says_in_one_line_what_a_file_lacks) {
  for (const auto& [path, words] : std::vector<std::pair<std::string, std::string>>{
           {(folder_ / "none.sqlite").string(), "no such file"},
           {write("hello, this is text and no database at all", "text.sqlite"), "not an SQLite database"},
           {made("CREATE TABLE other(a);", "other.sqlite"), "no tables of Nsight Systems"},
           {made("CREATE TABLE StringIds(id, value);", "empty.sqlite"), "no kernels"},
           {made("CREATE TABLE StringIds(id, value); CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS SELECT 1 AS start, 2 AS "
                 "end;",
                 "view.sqlite"),
            ": "}}) {
    const auto trace = import_nsys(path);
    ASSERT_FALSE(trace) << path;
    EXPECT_NE(trace.error().message.find(words), std::string::npos) << trace.error().message;
    EXPECT_EQ(trace.error().message.find('\n'), std::string::npos);
  }
}

TEST_F(NsysImportTest, what_a_damaged_schema_says_stays_in_one_line) {
  const auto path = made(
      "CREATE TABLE StringIds(id, value); PRAGMA writable_schema=ON;"
      "UPDATE sqlite_master SET name = 'a' || char(10) || 'b' || char(27), sql = 'no' || char(10) || 'statement';");
  const auto trace = import_nsys(path);
  ASSERT_FALSE(trace);
  EXPECT_EQ(trace.error().message.find('\n'), std::string::npos) << trace.error().message;
  EXPECT_EQ(trace.error().message.find('\x1B'), std::string::npos);
  EXPECT_NE(trace.error().message.find("\\x0a"), std::string::npos) << trace.error().message;
}

TEST_F(NsysImportTest, a_truncated_database_is_one_line) {
  std::string rows = kKernel;
  for (int i = 0; i < 5000; ++i)
    rows += "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (7, 100, 250, 1, 1, 4, 5, 6, 44, 83886080, 16, 32);";
  const auto path = made("BEGIN;" + rows + "COMMIT;");
  const auto size = std::filesystem::file_size(path);
  for (const auto left : {size - size / 4, size / 2, std::uintmax_t{5000}, std::uintmax_t{100}, std::uintmax_t{0}}) {
    std::filesystem::resize_file(path, left);
    const auto trace = import_nsys(path);
    ASSERT_FALSE(trace) << left;
    EXPECT_EQ(trace.error().message.find('\n'), std::string::npos);
  }
}

}  // namespace
}  // namespace ridgeline::trace
