#include "server/obs/health.h"

#include "grpcpp/health_check_service_interface.h"

namespace tcact::obs {

void EnableHealth() { grpc::EnableDefaultHealthCheckService(true); }

void SetServing(grpc::Server* server, bool serving) {
  grpc::HealthCheckServiceInterface* health = server->GetHealthCheckService();
  if (health == nullptr) return;
  health->SetServingStatus("tcact.v1.ActionStore", serving);
  health->SetServingStatus("tcact.v1.Admin", serving);
  health->SetServingStatus(serving);
}

}  // namespace tcact::obs
