"""Names that programs and containers share."""

# The opaque blob, and the key of ONNX metadata_props, that says which inputs the host merges.
sHostConcatRunnerConfig = "host_concat_runner_config"
