// SPDX-License-Identifier: Apache-2.0
#include "execute/slot_executor.hpp"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "execute/calls.hpp"
#include "execute/local_transport.hpp"

namespace ridgeline::execute {
namespace {

/// What the slots have in common.
struct Meeting {
  std::atomic<int> present{0};
  std::atomic<int> most_present{0};
  std::atomic<int> expected{1};
};

/// Waits in each job until as many slots as expected are in one; answers with its name and the request. A request
/// "fail" and "broken" are Errors, "endless" ends when cancelled.
class MeetingTransport final : public Transport {
 public:
  MeetingTransport(Meeting& meeting, std::string name, std::function<bool()> cancelled, std::thread::id* made_on,
                   std::thread::id* ended_on)
      : meeting_(meeting), name_(std::move(name)), cancelled_(std::move(cancelled)), ended_on_(ended_on) {
    if (made_on != nullptr) *made_on = std::this_thread::get_id();
  }
  ~MeetingTransport() override {
    if (ended_on_ != nullptr) *ended_on_ = std::this_thread::get_id();
  }
  [[nodiscard]] std::vector<std::string> capabilities() const override { return {"talk to " + name_}; }
  [[nodiscard]] base::Result<JobAnswer> run(const Job& job) override {
    if (job.kind == job_kind::kEnvironment) {
      schema::Environment environment;
      environment.hostname = name_;
      return JobAnswer{environment, {}};
    }
    if (job.request == "fail") return base::fail(base::ErrorCode::out_of_time, "failed");
    if (job.request == "broken") return base::fail(base::ErrorCode::internal, "no worker");
    const int here = ++meeting_.present;
    int most = meeting_.most_present;
    while (here > most && !meeting_.most_present.compare_exchange_weak(most, here)) {
    }
    while (meeting_.most_present < meeting_.expected) std::this_thread::yield();
    while (job.request == "endless" && !cancelled_()) std::this_thread::yield();
    --meeting_.present;
    if (job.request == "endless") return base::fail(base::ErrorCode::cancelled, "stopped");
    return JobAnswer{name_ + " ran " + job.request.get<std::string>(), {1.5}};
  }

 private:
  Meeting& meeting_;
  std::string name_;
  std::function<bool()> cancelled_;
  std::thread::id* ended_on_;
};

SlotExecutor::Slot slot(Meeting& meeting, const std::string& name, std::thread::id* made = nullptr,
                        std::thread::id* ended = nullptr) {
  return {{name, {}}, [&meeting, name, made, ended](std::function<bool()> cancelled) {
            return std::make_unique<MeetingTransport>(meeting, name, std::move(cancelled), made, ended);
          }};
}

SlotExecutor three_slots(Meeting& meeting) {
  return SlotExecutor({slot(meeting, "A"), slot(meeting, "B"), slot(meeting, "C")});
}

Job job(std::size_t slot, std::string request) {
  Job job;
  job.kind = "talk";
  job.slot = slot;
  job.request = std::move(request);
  return job;
}

std::string text(const base::Result<JobAnswer>& answer) {
  return answer ? answer->value.get<std::string>() : answer.error().message;
}

TEST(SlotExecutor, runs_jobs_side_by_side_and_answers_in_order) {
  Meeting meeting;
  meeting.expected = 3;  // none would end if they ran one after another
  auto executor = three_slots(meeting);
  EXPECT_EQ(executor.slots().size(), 3U);
  EXPECT_EQ(executor.capabilities(2), std::vector<std::string>{"talk to C"});
  const auto answers = run_jobs(executor, {job(2, "z"), job(0, "x"), job(1, "y")});
  ASSERT_EQ(answers.size(), 3U);
  EXPECT_EQ(text(answers[0]), "C ran z");
  EXPECT_EQ(text(answers[1]), "A ran x");
  EXPECT_EQ(text(answers[2]), "B ran y");
  EXPECT_EQ(answers[2]->samples, std::vector<double>{1.5});
}

TEST(SlotExecutor, jobs_of_one_slot_run_one_after_another) {
  Meeting meeting;
  auto executor = three_slots(meeting);
  const auto answers = run_jobs(executor, {job(1, "a"), job(1, "b"), job(1, "c")});
  EXPECT_EQ(text(answers[0]), "B ran a");
  EXPECT_EQ(text(answers[2]), "B ran c");
  EXPECT_EQ(meeting.most_present, 1);
}

TEST(SlotExecutor, hands_out_jobs_as_they_end) {
  Meeting meeting;
  meeting.expected = 2;  // else the endless one may be cancelled before it begins
  auto executor = three_slots(meeting);
  ASSERT_TRUE(executor.submit(job(1, "endless")));
  const auto second = executor.submit(job(2, "y"));
  const auto ended = executor.wait_any();
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->id, *second);
  EXPECT_EQ(text(ended->answer), "C ran y");
  executor.cancel();
  EXPECT_EQ(text(executor.wait_any()->answer), "stopped");
  EXPECT_FALSE(executor.wait_any());
}

TEST(SlotExecutor, cancel_ends_what_runs_and_what_waits_and_no_more) {
  Meeting meeting;
  auto executor = three_slots(meeting);
  ASSERT_TRUE(executor.submit(job(1, "endless")));
  ASSERT_TRUE(executor.submit(job(1, "after")));
  ASSERT_TRUE(executor.submit(job(0, "first")));
  executor.cancel();
  int cancelled = 0;
  while (auto ended = executor.wait_any())
    cancelled += !ended->answer && ended->answer.error().code == base::ErrorCode::cancelled;
  EXPECT_EQ(cancelled, 3);
  EXPECT_EQ(text(run_jobs(executor, {job(1, "later")}).front()), "B ran later");
}

TEST(SlotExecutor, the_caller_can_cancel_from_outside) {
  Meeting meeting;
  std::atomic<bool> interrupted{false};
  SlotExecutor executor({slot(meeting, "A"), slot(meeting, "B")}, [&] { return interrupted.load(); });
  ASSERT_TRUE(executor.submit(job(1, "endless")));
  interrupted = true;
  EXPECT_EQ(text(executor.wait_any()->answer), "stopped");
}

TEST(SlotExecutor, an_environment_is_seen_from_its_slot_while_other_jobs_run) {
  Meeting meeting;
  auto executor = three_slots(meeting);
  ASSERT_TRUE(executor.submit(job(1, "y")));
  EXPECT_EQ(executor.environment(2)->hostname, "C");
  EXPECT_EQ(executor.environment(0)->hostname, "A");
  EXPECT_EQ(text(executor.wait_any()->answer), "B ran y");
  EXPECT_FALSE(executor.wait_any());
}

TEST(SlotExecutor, passes_on_the_error_of_one_slot_beside_the_results_of_others) {
  Meeting meeting;
  auto executor = three_slots(meeting);
  const auto answers = run_jobs(executor, {job(0, "x"), job(1, "fail")});
  EXPECT_TRUE(answers[0]);
  ASSERT_FALSE(answers[1]);
  EXPECT_EQ(answers[1].error().code, base::ErrorCode::out_of_time);
}

TEST(SlotExecutor, an_error_that_ends_the_run_ends_the_other_jobs_with_it) {
  Meeting meeting;
  auto executor = three_slots(meeting);
  const auto answers = run_jobs(executor, {job(1, "endless"), job(1, "after"), job(2, "broken")});
  for (const auto& answer : answers) EXPECT_EQ(text(answer), "no worker");
  EXPECT_EQ(text(run_jobs(executor, {job(1, "later")}).front()), "B ran later");
}

TEST(SlotExecutor, refuses_a_slot_that_there_is_not) {
  Meeting meeting;
  auto executor = three_slots(meeting);
  const auto answers = run_jobs(executor, {job(3, "x"), job(0, "y")});
  EXPECT_EQ(text(answers[0]), "slot 3 of 3: no such slot");
  EXPECT_EQ(text(answers[1]), "A ran y");
  EXPECT_TRUE(executor.capabilities(3).empty());
}

TEST(SlotExecutor, slot_0_works_on_the_callers_thread_and_each_other_on_its_own) {
  Meeting meeting;
  std::thread::id first;
  std::thread::id made;
  std::thread::id ended;
  {
    SlotExecutor executor({slot(meeting, "A", &first), slot(meeting, "B", &made, &ended)});
    EXPECT_EQ(text(run_jobs(executor, {job(1, "y")}).front()), "B ran y");
  }
  EXPECT_EQ(first, std::this_thread::get_id());
  EXPECT_NE(made, std::this_thread::get_id());
  EXPECT_EQ(made, ended);
}

TEST(LocalTransport, refuses_kinds_that_nobody_answers) {
  LocalTransport transport;
  transport.add("talk", [](const Job&) { return JobAnswer{"hello", {}}; });
  EXPECT_EQ(transport.capabilities(), (std::vector<std::string>{"environment", "talk"}));
  EXPECT_EQ(transport.run(job(0, ""))->value, "hello");
  auto unknown = job(0, "");
  unknown.kind = "sing";
  const auto answer = transport.run(unknown);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, base::ErrorCode::unsupported);
  EXPECT_EQ(answer.error().message, "a job of kind \"sing\" cannot run here; expected one of: environment, talk");
}

}  // namespace
}  // namespace ridgeline::execute
