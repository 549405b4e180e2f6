#include "server/durable/journal.h"

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "tests/server/durable/flaky_record_store.h"

namespace tcact::durable {
namespace {

JournalOptions Lazy(Level level = Level::kSync) {
  JournalOptions options;
  options.level = level;
  options.lag = absl::Hours(1);
  return options;
}

void Append(Journal* journal, absl::string_view key) {
  Journal::Turn turn(journal);
  if (turn.ok()) turn.batch()->Put(key, "v");
}

bool Has(RecordStore* store, absl::string_view key) {
  std::string value;
  return store->Get(key, &value).ok();
}

TEST(Journal, AnAnswerFromAQuietJournalWaitsForNothing) {
  FlakyRecordStore store;
  Journal journal(&store, Lazy());
  EXPECT_EQ(journal.OutcomeOf(journal.TicketOfAnswer(false)), Outcome::kRecorded);
}

TEST(Journal, AnAnswerWaitsUntilItsRecordsAreCommitted) {
  FlakyRecordStore store;
  store.Hold();
  Journal journal(&store, Lazy());
  Append(&journal, "a");
  const uint64_t ticket = journal.TicketOfAnswer(false);
  journal.Want(ticket);
  EXPECT_EQ(journal.OutcomeOf(ticket), Outcome::kWaiting);
  store.Release();
  ASSERT_TRUE(journal.Flush().ok());
  EXPECT_EQ(journal.OutcomeOf(ticket), Outcome::kRecorded);
  EXPECT_TRUE(Has(&store, "a"));
  EXPECT_EQ(store.last_level(), Level::kSync);
}

TEST(Journal, ARequestThatChangesNothingIsAnsweredToo) {
  FlakyRecordStore store;
  Journal journal(&store, Lazy());
  { Journal::Turn turn(&journal); }
  const uint64_t ticket = journal.TicketOfAnswer(false);
  ASSERT_TRUE(journal.Flush().ok());
  EXPECT_EQ(journal.OutcomeOf(ticket), Outcome::kRecorded);
  EXPECT_EQ(store.commits(), 0);
}

TEST(Journal, WhoSeesAChangeWhileItIsMadeWaitsForIt) {
  FlakyRecordStore store;
  store.Hold();
  Journal journal(&store, Lazy());
  uint64_t ticket = 0;
  {
    Journal::Turn turn(&journal);
    // Another thread reads what this turn changed before it appended its record.
    std::thread([&] { ticket = journal.TicketOfAnswer(false); }).join();
    turn.batch()->Put("a", "v");
  }
  EXPECT_EQ(journal.OutcomeOf(ticket), Outcome::kWaiting);
  store.Release();
  ASSERT_TRUE(journal.Flush().ok());
  EXPECT_EQ(journal.OutcomeOf(ticket), Outcome::kRecorded);
}

TEST(Journal, OneCommitServesAllThatCameWhileTheLastOneRan) {
  FlakyRecordStore store;
  Journal journal(&store, Lazy());
  Append(&journal, "first");
  store.Hold();
  journal.Want(journal.TicketOfAnswer(false));
  absl::SleepFor(absl::Milliseconds(20));  // the writer is in its commit
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&journal, i] {
      Append(&journal, absl::StrCat("k", i));
      journal.Want(journal.TicketOfAnswer(false));
    });
  }
  for (std::thread& thread : threads) thread.join();
  store.Release();
  ASSERT_TRUE(journal.Flush().ok());
  for (int i = 0; i < 8; ++i) EXPECT_TRUE(Has(&store, absl::StrCat("k", i)));
  EXPECT_LE(store.commits(), 2);
}

TEST(Journal, TurnsMayBeNestedAndMakeOneBatch) {
  FlakyRecordStore store;
  Journal journal(&store, Lazy());
  {
    Journal::Turn outer(&journal);
    Append(&journal, "a");
    Append(&journal, "b");
    std::thread([&] { journal.Want(journal.TicketOfAnswer(false)); }).join();
  }
  ASSERT_TRUE(journal.Flush().ok());
  EXPECT_EQ(journal.stats().commits, 1u);
  EXPECT_EQ(journal.stats().records, 2u);
}

TEST(Journal, LevelMemoryAnswersAtOnceUntilTooMuchWaits) {
  FlakyRecordStore store;
  store.Hold();
  JournalOptions options = Lazy(Level::kMemory);
  options.max_backlog_bytes = 1000;
  Journal journal(&store, options);
  Append(&journal, "a");
  EXPECT_EQ(journal.OutcomeOf(journal.TicketOfAnswer(false)), Outcome::kRecorded);
  for (int i = 0; i < 200; ++i) Append(&journal, absl::StrCat("k", i));
  EXPECT_EQ(journal.OutcomeOf(journal.TicketOfAnswer(false)), Outcome::kWaiting);
  store.Release();
  ASSERT_TRUE(journal.Flush().ok());
}

TEST(Journal, NobodyNeedsToAskForARecordToBeWritten) {
  FlakyRecordStore store;
  JournalOptions options;
  options.lag = absl::Milliseconds(5);
  Journal journal(&store, options);
  Append(&journal, "a");
  const absl::Time end = absl::Now() + absl::Seconds(10);
  while (!Has(&store, "a") && absl::Now() < end) absl::SleepFor(absl::Milliseconds(1));
  EXPECT_TRUE(Has(&store, "a"));
}

TEST(Journal, TheEndWritesWhatIsLeft) {
  FlakyRecordStore store;
  {
    Journal journal(&store, Lazy());
    Append(&journal, "a");
  }
  EXPECT_TRUE(Has(&store, "a"));
}

TEST(Journal, AFailedCommitLosesWhatWaitsAndEndsAllChanges) {
  FlakyRecordStore store;
  std::vector<std::string> lost;
  JournalOptions options = Lazy();
  options.on_failure = [&](absl::Span<const Batch* const> batches) {
    for (const Batch* batch : batches)
      batch->ForEach([&](const Change& change) { lost.emplace_back(change.key); });
  };
  Journal journal(&store, options);
  Append(&journal, "kept");
  ASSERT_TRUE(journal.Flush().ok());
  const uint64_t kept = journal.TicketOfAnswer(false);
  store.Break();
  Append(&journal, "lost");
  const uint64_t ticket = journal.TicketOfAnswer(false);
  EXPECT_TRUE(absl::IsResourceExhausted(journal.Flush()));

  EXPECT_TRUE(journal.failed());
  EXPECT_EQ(lost, std::vector<std::string>{"lost"});
  EXPECT_EQ(journal.OutcomeOf(kept), Outcome::kRecorded);
  EXPECT_EQ(journal.OutcomeOf(ticket), Outcome::kLost);
  // An answer that was made across the failure is lost, one made after it waits for nothing.
  EXPECT_EQ(journal.OutcomeOf(journal.TicketOfAnswer(false)), Outcome::kLost);
  EXPECT_EQ(journal.OutcomeOf(journal.TicketOfAnswer(true)), Outcome::kRecorded);
  EXPECT_FALSE(Journal::Turn(&journal).ok());
}

struct CountingListener final : Journal::Listener {
  void OnProgress() override { ++told; }
  std::atomic<int> told{0};
};

TEST(Journal, ListenersAreToldOfSuccessAndOfFailure) {
  FlakyRecordStore store;
  Journal journal(&store, Lazy());
  CountingListener listener;
  journal.AddListener(&listener);
  Append(&journal, "a");
  ASSERT_TRUE(journal.Flush().ok());
  store.Break();
  Append(&journal, "b");
  EXPECT_FALSE(journal.Flush().ok());
  const absl::Time end = absl::Now() + absl::Seconds(10);
  while (listener.told < 2 && absl::Now() < end) absl::SleepFor(absl::Milliseconds(1));
  journal.RemoveListener(&listener);
  EXPECT_GE(listener.told, 2);
}

}  // namespace
}  // namespace tcact::durable
