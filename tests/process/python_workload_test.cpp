// SPDX-License-Identifier: Apache-2.0
#include "execute/python_workload.hpp"

#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fakes/temporary_folder.hpp"

namespace ridgeline::execute {
namespace {

/// Answers like python/ridgeline_infer, and writes down what it was asked.
constexpr const char* kProgram = R"(
import json, os, socket, sys
channel = socket.socket(fileno=int(os.environ["RIDGELINE_CHANNEL_FD"])).makefile("rw")
for line in channel:
    op = json.loads(line)["op"]
    with open(sys.argv[1], "a") as seen:
        seen.write(op + "\n")
    channel.write(json.dumps({"ok": {"kept": sys.argv[2] == "kept"} if op == "prepare" else {}}) + "\n")
    channel.flush()
    if op == "close":
        break
)";

TEST(PythonWorkload, asks_a_process_to_end_its_part_only_where_others_go_on_with_it) {
  for (const std::string kept : {"kept", "used up"}) {
    const fakes::TemporaryFolder folder;
    const auto seen = folder / "seen";
    JsonChildOptions child;
    child.command = {"python3", "-c", kProgram, seen.string(), kept};
    child.what = "the Python process";
    {
      PythonWorkload workload(child, {});
      ASSERT_TRUE(workload.prepare());
    }
    std::vector<std::string> asked;
    std::ifstream file(seen);
    for (std::string line; std::getline(file, line);) asked.push_back(line);
    ASSERT_GE(asked.size(), 2U);
    EXPECT_EQ(asked.back() == "close", kept == "kept") << kept;
  }
}

}  // namespace
}  // namespace ridgeline::execute
