// ScratchArena: an arena for the messages of a stream, one after the other, that learns how large
// they are.
//
// A protobuf arena gives all blocks but its first back at each Reset. So the first is made as large
// as what was used last, up to a bound: then messages of the usual size allocate nothing.
#ifndef TCACT_SERVER_RPC_SCRATCH_ARENA_H_
#define TCACT_SERVER_RPC_SCRATCH_ARENA_H_

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>

#include "google/protobuf/arena.h"

namespace tcact::rpc {

// Not thread safe.
class ScratchArena {
 public:
  // Bytes of the first block that are kept between messages.
  static constexpr size_t kMaxKeptBytes = size_t{256} << 10;

  // Forgets what was made before, and makes an empty message.
  template <typename Message>
  Message* Fresh() {
    Recycle();
    return google::protobuf::Arena::CreateMessage<Message>(&*arena_);
  }

 private:
  static constexpr size_t kFirstBytes = 2048;
  static constexpr size_t kBlockBytes = size_t{64} << 10;

  void Recycle() {
    const size_t used = arena_ ? static_cast<size_t>(arena_->SpaceAllocated()) : kFirstBytes;
    const size_t wanted = std::min(used, kMaxKeptBytes);
    if (arena_ && wanted <= size_) {
      arena_->Reset();
      return;
    }
    arena_.reset();
    size_ = wanted;
    block_ = std::make_unique<char[]>(size_);
    google::protobuf::ArenaOptions options;
    options.initial_block = block_.get();
    options.initial_block_size = size_;
    options.start_block_size = kBlockBytes;
    options.max_block_size = kMaxKeptBytes;
    arena_.emplace(options);
  }

  size_t size_ = 0;
  std::unique_ptr<char[]> block_;
  std::optional<google::protobuf::Arena> arena_;
};

}  // namespace tcact::rpc

#endif  // TCACT_SERVER_RPC_SCRATCH_ARENA_H_
