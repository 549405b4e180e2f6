// grpc.health.v1 of the server: gRPC's built-in service, and the moments at which it changes its
// answer.
#ifndef TCACT_SERVER_OBS_HEALTH_H_
#define TCACT_SERVER_OBS_HEALTH_H_

#include "grpcpp/server.h"

namespace tcact::obs {

// Must be called before a server is built.
void EnableHealth();

// What Check and Watch answer from now on, for the whole server ("") and for each service of
// tcact.v1. Before the first call: SERVING for "". Thread safe.
void SetServing(grpc::Server* server, bool serving);

}  // namespace tcact::obs

#endif  // TCACT_SERVER_OBS_HEALTH_H_
