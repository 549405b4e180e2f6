#include "server/core/slab/sheaf.h"

#include <vector>

#include "gtest/gtest.h"

namespace tcact::slab {
namespace {

void* Fake(uintptr_t n) { return reinterpret_cast<void*>(n * 8); }

Sheaf* Filled(size_t capacity, size_t count) {
  Sheaf* const sheaf = Sheaf::New(capacity);
  for (size_t i = 0; i < count; ++i) sheaf->Push(Fake(i + 1));
  return sheaf;
}

TEST(SheafTest, IsAStack) {
  Sheaf* const sheaf = Sheaf::New(2);
  EXPECT_TRUE(sheaf->empty());
  sheaf->Push(Fake(1));
  sheaf->Push(Fake(2));
  EXPECT_TRUE(sheaf->full());
  EXPECT_EQ(sheaf->Pop(), Fake(2));
  EXPECT_EQ(sheaf->Pop(), Fake(1));
  EXPECT_TRUE(sheaf->empty());
  Sheaf::Delete(sheaf);
}

TEST(SheafTest, MovesManyAsFarAsTheyGo) {
  Sheaf* const sheaf = Sheaf::New(5);
  const std::vector<void*> in = {Fake(1), Fake(2), Fake(3), Fake(4)};
  EXPECT_EQ(sheaf->PushMany(in), 4);
  EXPECT_EQ(sheaf->PushMany(in), 1);
  std::vector<void*> out(3);
  EXPECT_EQ(sheaf->PopMany(absl::MakeSpan(out)), 3);
  EXPECT_EQ(out, (std::vector<void*>{Fake(3), Fake(4), Fake(1)}));
  EXPECT_EQ(sheaf->PopMany(absl::MakeSpan(out)), 2);
  Sheaf::Delete(sheaf);
}

TEST(DepotTest, HandsOutFilledSheavesForEmptyOnes) {
  Depot depot("test_depot_filled", 4);
  Sheaf* const empty = Sheaf::New(3);
  EXPECT_EQ(depot.TakeFilled(empty), nullptr) << "nothing there: the empty one stays the caller's";
  Sheaf* const filled = Filled(3, 2);
  EXPECT_TRUE(depot.Put(filled));
  EXPECT_EQ(depot.Objects(), 2);
  EXPECT_EQ(depot.TakeFilled(empty), filled);
  EXPECT_EQ(depot.Objects(), 0);
  EXPECT_EQ(depot.TakeEmpty(filled), empty);
  Sheaf::Delete(empty);
}

TEST(DepotTest, HandsAFullSheafBackWhenThereIsNoRoom) {
  Depot depot("test_depot_limit", 2);
  EXPECT_EQ(depot.TakeEmpty(Filled(3, 3)), nullptr);
  EXPECT_EQ(depot.TakeEmpty(Filled(3, 3)), nullptr);
  Sheaf* const third = Filled(3, 3);
  EXPECT_EQ(depot.TakeEmpty(third), third);
  EXPECT_FALSE(depot.Put(third));
  EXPECT_EQ(depot.Objects(), 6);
  Sheaf::Delete(third);
}

TEST(DepotTest, TakeAllEmptiesIt) {
  Depot depot("test_depot_all", 4);
  EXPECT_TRUE(depot.Put(Filled(3, 1)));
  EXPECT_TRUE(depot.Put(Filled(3, 2)));
  EXPECT_TRUE(depot.Put(Sheaf::New(3)));
  size_t sheaves = 0;
  for (Sheaf* sheaf = depot.TakeAll(); sheaf != nullptr; ++sheaves) {
    Sheaf* const next = sheaf->next;
    Sheaf::Delete(sheaf);
    sheaf = next;
  }
  EXPECT_EQ(sheaves, 3);
  EXPECT_EQ(depot.Objects(), 0);
  EXPECT_EQ(depot.TakeAll(), nullptr);
}

}  // namespace
}  // namespace tcact::slab
