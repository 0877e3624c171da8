use tonic_build::manual::{Builder, Method, Service};

/// Describes the service here, so that the build needs no compiler for .proto files.
fn main() {
    // prost has `google.protobuf.BytesValue` as the type of the value in it.
    let echo = Method::builder()
        .name("echo")
        .route_name("Echo")
        .input_type("Vec<u8>")
        .output_type("Vec<u8>")
        .codec_path("tonic_prost::ProstCodec")
        .build();
    let bench = Service::builder().name("Bench").package("drome").method(echo).build();
    Builder::new().build_client(false).compile(&[bench]);
    println!("cargo::rerun-if-changed=build.rs");
}
