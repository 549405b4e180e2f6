// How much one client may ask for at once. One table, so that a limit is found, documented and
// changed in one place.
#ifndef TCACT_SERVER_RPC_LIMITS_H_
#define TCACT_SERVER_RPC_LIMITS_H_

#include <cstddef>
#include <cstdint>

namespace tcact::rpc {

// Entries of one request: actions, keys, or operations of one Apply batch.
inline constexpr int kMaxBatchEntries = 4096;
// Entries of one UpdateStats.
inline constexpr int kMaxStatsEntries = 1'000'000;
// Largest delta of one counter in one entry: 2^63 - 1.
inline constexpr uint64_t kMaxDelta = INT64_MAX;
// Largest rise of a gauge in one Operation.Stats: 2^31 - 1.
inline constexpr uint32_t kMaxGaugeDelta = INT32_MAX;

inline constexpr int kDefaultPageSize = 1000;
inline constexpr int kMaxPageSize = 10'000;

// A larger request is answered RESOURCE_EXHAUSTED by gRPC itself.
inline constexpr int kMaxMessageBytes = 16 << 20;
// Streams of one connection, unary calls included; HTTP/2 makes the client wait for more.
inline constexpr int kMaxStreamsPerConnection = 1024;
// Dumps and Apply streams of the whole server, each. More are refused with QUOTA_EXCEEDED.
inline constexpr int kMaxDumps = 256;
inline constexpr int kMaxApplyStreams = 8192;
// Streams of grpc.health.v1.Health/Watch of the whole server.
inline constexpr int kMaxHealthWatches = 1024;
// Replies that wait for slow readers, all unary calls together. Beyond it, calls that may answer
// with many actions are refused with QUOTA_EXCEEDED.
inline constexpr size_t kMaxUnsentBytes = size_t{512} << 20;
// Calls that wait for the worker (flush, shrink, ...). More are refused with QUOTA_EXCEEDED.
inline constexpr size_t kMaxWorkerQueue = 256;
// A stream whose reader takes nothing for so long is cancelled.
inline constexpr int kStalledStreamSeconds = 60;
// A connection must have done HTTP/2's handshake by then.
inline constexpr int kHandshakeMs = 10'000;

// Actions of one message of a dump, that is of one turn on the completion queue.
inline constexpr int kDumpSlice = 512;
// Actions that one turn looks at when a filter leaves most of them out.
inline constexpr int kDumpVisits = 8192;
// Batches of one Apply stream that are answered but not yet sent.
inline constexpr int kApplyWindow = 4;
// The same where answers wait for a journal, as long as they are of less than kMaxUnrecordedOps
// operations.
inline constexpr int kJournalWindow = 64;
inline constexpr int kMaxUnrecordedOps = 16'384;
// Larger UpdateStats run on the worker, so that they do not hold up the completion queue.
inline constexpr int kInlineStatsEntries = 16'384;

}  // namespace tcact::rpc

#endif  // TCACT_SERVER_RPC_LIMITS_H_
