"""proto_cc_library: .proto files through the system's protoc and grpc_cpp_plugin into a cc_library."""

def _generate_impl(ctx):
    hdrs, srcs = [], []
    for src in ctx.files.srcs:
        stem = src.basename[:-len(".proto")]
        exts = [".pb"] + ([".grpc.pb"] if ctx.attr.grpc else [])
        h = [ctx.actions.declare_file(stem + e + ".h") for e in exts]
        c = [ctx.actions.declare_file(stem + e + ".cc") for e in exts]
        args = ctx.actions.args()
        args.add("--proto_path=.")
        args.add("--cpp_out=" + ctx.bin_dir.path)
        if ctx.attr.grpc:
            args.add("--grpc_out=" + ctx.bin_dir.path)
            args.add("--plugin=protoc-gen-grpc=/usr/bin/grpc_cpp_plugin")
        args.add(src.path)
        ctx.actions.run(
            executable = "/usr/bin/protoc",
            arguments = [args],
            inputs = ctx.files.srcs + ctx.files.imports,
            outputs = h + c,
            mnemonic = "ProtocCpp",
            progress_message = "Generating C++ from %s" % src.short_path,
        )
        hdrs += h
        srcs += c
    return [
        DefaultInfo(files = depset(hdrs + srcs)),
        OutputGroupInfo(hdrs = depset(hdrs), srcs = depset(srcs)),
    ]

_generate = rule(
    implementation = _generate_impl,
    attrs = {
        "srcs": attr.label_list(allow_files = [".proto"]),
        "imports": attr.label_list(allow_files = [".proto"]),
        "grpc": attr.bool(default = False),
    },
)

def proto_cc_library(name, srcs, imports = [], grpc = False, deps = [], **kwargs):
    """A cc_library of the C++ that protoc makes of srcs.

    Args:
      name: the library's name.
      srcs: .proto files of this package.
      imports: .proto files that srcs import, from any package.
      grpc: whether to generate the services too.
      deps: the proto_cc_library targets of the imports.
      **kwargs: passed to cc_library.
    """
    _generate(name = name + "_gen", srcs = srcs, imports = imports, grpc = grpc)
    native.filegroup(name = name + "_hdrs", srcs = [name + "_gen"], output_group = "hdrs")
    native.filegroup(name = name + "_srcs", srcs = [name + "_gen"], output_group = "srcs")
    native.cc_library(
        name = name,
        srcs = [name + "_srcs"],
        hdrs = [name + "_hdrs"],
        # Generated code is not ours to keep free of warnings.
        copts = ["-w"],
        deps = deps + ["//third_party:grpcpp" if grpc else "//third_party:protobuf"],
        **kwargs
    )
