"""What a failed call carries beside its code and text: google.rpc.ErrorInfo in the trailer."""

TRAILER = "grpc-status-details-bin"
ERROR_INFO = "type.googleapis.com/google.rpc.ErrorInfo"


def error_info(api, error):
    """The ErrorInfo of a grpc.RpcError, or None: errors of gRPC itself and UNAVAILABLE at shutdown have none.

    `api` is what stubs.load() gave. The messages of error_details.proto are those of google.rpc on the wire, which
    Debian does not package for Python; with googleapis-common-protos use grpc_status.rpc_status.from_call(error).
    """
    for key, value in error.trailing_metadata() or ():
        if key == TRAILER:
            for detail in api.error_details.StatusDetails.FromString(value).details:
                if detail.type_url == ERROR_INFO:
                    return api.error_details.ErrorInfo.FromString(detail.value)
    return None
