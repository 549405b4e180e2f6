// Slot: one place of the load, which has at most one message under way at a time.
#ifndef TCACT_CLIENT_LOAD_SLOT_H_
#define TCACT_CLIENT_LOAD_SLOT_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "client/load/tally.h"
#include "grpcpp/support/byte_buffer.h"

namespace tcact::load {

// Used by one thread. The engine calls Next, then OnReply (for a dump once for each part) or
// OnFailure, and so on.
class Slot {
 public:
  virtual ~Slot() = default;

  // The next message to send. Returns its full method name ("/package.Service/Method"), which lives
  // as long as the slot. `batch_id` is the stream's number for it, 0 in a unary call.
  virtual const std::string& Next(uint64_t batch_id, grpc::ByteBuffer* body) = 0;

  // Takes the answer in; says in *outcome what succeeded and what failed.
  virtual void OnReply(grpc::ByteBuffer* reply, Outcome* outcome) = 0;

  // The message failed as a whole.
  virtual void OnFailure() = 0;

  // Nothing of what the slot made is left on the server: it may stop here.
  virtual bool clean() const = 0;
};

}  // namespace tcact::load

#endif  // TCACT_CLIENT_LOAD_SLOT_H_
