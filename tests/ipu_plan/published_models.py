"""The models whose figures on a C600 are published, as ONNX files in float16.

The weights have no meaning, but each tensor is different from all others, so that none is shared: they lie
in a sparse file, zeros but for a number at the start of each.
"""

import pathlib

import numpy as np
from onnx import TensorProto, helper, numpy_helper

WEIGHT_ALIGNMENT = 4096
OPSET = 17


class ModelBuilder:
    """An ONNX graph that grows operator by operator; values are known by their names."""

    def __init__(self, name, folder, dtype=np.float16):
        self.name = name
        self.dtype = np.dtype(dtype)
        self.element_type = {2: TensorProto.FLOAT16, 4: TensorProto.FLOAT}[self.dtype.itemsize]
        self.folder = pathlib.Path(folder)
        self.nodes, self.inputs, self.outputs, self.initializers = [], [], [], []
        self.weights = open(self.folder / f"{name}.weights", "wb")
        self.weight_end = 0

    def input(self, name, shape, element_type):
        self.inputs.append(helper.make_tensor_value_info(name, element_type, shape))
        return name

    def output(self, value, shape):
        self.outputs.append(helper.make_tensor_value_info(value, self.element_type, shape))

    def weight(self, *shape):
        """A parameter in the file of weights."""
        number = len(self.initializers) + 1
        tensor = TensorProto(name=f"w{number}", dims=shape, data_type=self.element_type,
                             data_location=TensorProto.EXTERNAL)
        size = self.dtype.itemsize * int(np.prod(shape))
        for key, value in (("location", f"{self.name}.weights"), ("offset", str(self.weight_end)),
                           ("length", str(size))):
            tensor.external_data.add(key=key, value=value)
        self.weights.seek(self.weight_end)
        self.weights.write(number.to_bytes(4, "little")[:size])
        self.weight_end += -(-size // WEIGHT_ALIGNMENT) * WEIGHT_ALIGNMENT
        self.initializers.append(tensor)
        return tensor.name

    def constant(self, value, dtype=np.float16):
        tensor = numpy_helper.from_array(np.asarray(value, dtype), f"c{len(self.initializers)}")
        self.initializers.append(tensor)
        return tensor.name

    def op(self, op_type, *inputs, **attributes):
        value = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op_type, inputs, [value], f"{op_type}_{len(self.nodes)}",
                                           **attributes))
        return value

    def save(self):
        self.weights.truncate(self.weight_end)
        self.weights.close()
        graph = helper.make_graph(self.nodes, self.name, self.inputs, self.outputs, self.initializers)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)
        path = self.folder / f"{self.name}.onnx"
        path.write_bytes(model.SerializeToString())
        return path


# Image classification

def convolution(model, x, inputs, outputs, kernel, stride=1):
    """A convolution whose normalisation is in its weights already."""
    pad = (kernel - 1) // 2
    return model.op("Conv", x, model.weight(outputs, inputs, kernel, kernel), model.weight(outputs),
                    kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[pad] * 4)


def bottleneck(model, x, inputs, width, stride):
    outputs = 4 * width
    y = model.op("Relu", convolution(model, x, inputs, width, 1))
    y = model.op("Relu", convolution(model, y, width, width, 3, stride))
    y = convolution(model, y, width, outputs, 1)
    if inputs != outputs:
        x = convolution(model, x, inputs, outputs, 1, stride)
    return model.op("Relu", model.op("Add", y, x))


def resnet50(folder, batch):
    """Images come as bytes and are normalised on the device."""
    model = ModelBuilder(f"resnet50-{batch}", folder)
    image = model.input("image", [batch, 3, 224, 224], TensorProto.UINT8)
    x = model.op("Cast", image, to=TensorProto.FLOAT16)
    x = model.op("Sub", x, model.constant(np.full((1, 3, 1, 1), 118)))
    x = model.op("Mul", x, model.constant(np.full((1, 3, 1, 1), 0.017)))
    x = model.op("Relu", convolution(model, x, 3, 64, 7, 2))
    x = model.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    channels = 64
    for width, blocks, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for block in range(blocks):
            x = bottleneck(model, x, channels, width, stride if block == 0 else 1)
            channels = 4 * width
    x = model.op("Flatten", model.op("GlobalAveragePool", x), axis=1)
    x = model.op("Gemm", x, model.weight(1000, channels), model.weight(1000), transB=1)
    model.output(model.op("Softmax", x, axis=-1), [batch, 1000])
    return model.save()


def normalised(model, x, channels):
    """What TensorFlow leaves of a normalisation behind a convolution: the factors are in its weights."""
    return model.op("Add", x, model.weight(channels, 1, 1))


def plain_convolution(model, x, inputs, outputs, kernel, stride=1, groups=1):
    x = model.op("Conv", x, model.weight(outputs, inputs // groups, kernel, kernel), group=groups,
                 kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[(kernel - 1) // 2] * 4)
    return normalised(model, x, outputs)


def inverted_bottleneck(model, x, inputs, outputs, expansion, kernel, stride, fused, skips):
    """Expands the channels and projects them; the kernel is that of the expansion, or between the two."""
    width = expansion * inputs
    if fused:
        y = model.op("Relu", plain_convolution(model, x, inputs, width, kernel))
        y = plain_convolution(model, y, width, outputs, 1, stride)
    else:
        y = model.op("Relu", plain_convolution(model, x, inputs, width, 1))
        y = model.op("Relu", plain_convolution(model, y, width, width, kernel, stride, width))
        y = plain_convolution(model, y, width, outputs, 1)
    return model.op("Add", y, x) if skips and inputs == outputs and stride == 1 else y


def efficientnet_edgetpu_l(folder, batch=2, size=224):
    """EfficientNet for edge devices, size L, in float32: 27 blocks, the first 11 of them fused."""
    model = ModelBuilder(f"efficientnet-edgetpu-l-{batch}", folder, np.float32)
    x = model.input("image", [batch, 3, size, size], model.element_type)
    channels = 32
    x = model.op("Relu", plain_convolution(model, x, 3, channels, 3, 2))
    for outputs, blocks, expansion, kernel, stride, fused, skips in (
            (32, 2, 4, 3, 1, True, False), (40, 3, 8, 3, 2, True, True), (56, 6, 8, 3, 2, True, True),
            (112, 7, 8, 5, 2, False, True), (176, 6, 8, 5, 1, False, True), (232, 3, 8, 5, 2, False, True)):
        for block in range(blocks):
            x = inverted_bottleneck(model, x, channels, outputs, expansion, kernel, stride if block == 0 else 1, fused,
                                    skips)
            channels = outputs
    x = model.op("Relu", plain_convolution(model, x, channels, 1536, 1))
    x = model.op("Flatten", model.op("GlobalAveragePool", x), axis=1)
    x = model.op("Gemm", x, model.weight(1001, 1536), model.weight(1001), transB=1)
    model.output(model.op("Softmax", x, axis=-1), [batch, 1001])
    return model.save()


# Transformers

def linear(model, x, inputs, outputs):
    return model.op("Add", model.op("MatMul", x, model.weight(inputs, outputs)), model.weight(outputs))


def layer_norm(model, x, width):
    return model.op("LayerNormalization", x, model.weight(width), model.weight(width), axis=-1,
                    epsilon=1e-12)


def attention(model, x, mask, batch, tokens, width, heads):
    size = width // heads

    def heads_of(order):
        y = model.op("Reshape", linear(model, x, width, width),
                     model.constant([batch, tokens, heads, size], np.int64))
        return model.op("Transpose", y, perm=order)

    query, key, value = heads_of([0, 2, 1, 3]), heads_of([0, 2, 3, 1]), heads_of([0, 2, 1, 3])
    scores = model.op("Div", model.op("MatMul", query, key), model.constant(size ** 0.5))
    scores = model.op("Softmax", model.op("Add", scores, mask), axis=-1)
    y = model.op("Transpose", model.op("MatMul", scores, value), perm=[0, 2, 1, 3])
    y = model.op("Reshape", y, model.constant([batch, tokens, width], np.int64))
    return linear(model, y, width, width)


def gelu(model, x):
    y = model.op("Erf", model.op("Div", x, model.constant(2 ** 0.5)))
    y = model.op("Mul", x, model.op("Add", y, model.constant(1)))
    return model.op("Mul", y, model.constant(0.5))


def bert_layer(model, x, mask, batch, tokens, width, heads):
    y = attention(model, x, mask, batch, tokens, width, heads)
    x = layer_norm(model, model.op("Add", y, x), width)
    y = linear(model, gelu(model, linear(model, x, width, 4 * width)), 4 * width, width)
    return layer_norm(model, model.op("Add", y, x), width)


def bert(folder, name, batch, layers, width, heads, tokens=128, vocabulary=30522):
    """Question answering: two logits for each token."""
    model = ModelBuilder(f"{name}-{batch}", folder)
    words, mask, types = (model.input(text, [batch, tokens], TensorProto.INT32)
                          for text in ("input_ids", "input_mask", "segment_ids"))
    x = model.op("Gather", model.weight(vocabulary, width), words)
    x = model.op("Add", x, model.op("Gather", model.weight(2, width), types))
    x = model.op("Add", x, model.weight(1, tokens, width))
    x = layer_norm(model, x, width)
    mask = model.op("Cast", model.op("Unsqueeze", mask, model.constant([1, 2], np.int64)),
                    to=TensorProto.FLOAT16)
    mask = model.op("Mul", model.op("Sub", model.constant(1), mask), model.constant(-10000))
    for _ in range(layers):
        x = bert_layer(model, x, mask, batch, tokens, width, heads)
    model.output(linear(model, x, width, 2), [batch, tokens, 2])
    return model.save()


def bert_base(folder, batch):
    return bert(folder, "bert-base", batch, layers=12, width=768, heads=12)


def bert_large(folder, batch):
    return bert(folder, "bert-large", batch, layers=24, width=1024, heads=16)


def split_heads(model, projected, tokens, width, heads):
    """Queries, keys (transposed) and values of one product."""
    parts = []
    for i, order in enumerate(([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3])):
        y = model.op("Slice", projected, *(model.constant([n], np.int64) for n in (i * width, (i + 1) * width, 2)))
        y = model.op("Reshape", y, model.constant([1, tokens, heads, width // heads], np.int64))
        parts.append(model.op("Transpose", y, perm=order))
    return parts


def fused_bert_layer(model, x, mask, tokens, width, heads):
    """As graphcore/examples has it in PopART: one product for queries, keys and values, no biases beside it."""
    query, key, value = split_heads(model, model.op("MatMul", x, model.weight(width, 3 * width)), tokens, width, heads)
    scores = model.op("Mul", model.op("MatMul", query, key), model.constant((width // heads) ** -0.5))
    scores = model.op("Softmax", model.op("Add", scores, mask), axis=-1)
    y = model.op("Transpose", model.op("MatMul", scores, value), perm=[0, 2, 1, 3])
    y = model.op("Reshape", y, model.constant([1, tokens, width], np.int64))
    y = model.op("MatMul", y, model.weight(width, width))
    x = layer_norm(model, model.op("Add", y, x), width)
    y = linear(model, gelu(model, linear(model, x, width, 4 * width)), 4 * width, width)
    return layer_norm(model, model.op("Add", y, x), width)


def fused_bert_embedding(model, tokens, width, vocabulary=30522, positions=512):
    words, places, segments = (model.input(name, [1, tokens], TensorProto.INT32)
                               for name in ("words", "positions", "segments"))
    x = model.op("Gather", model.weight(vocabulary, width), words)
    x = model.op("Add", x, model.op("Gather", model.weight(positions, width), places))
    segments = model.op("OneHot", segments, model.constant(2, np.int64), model.constant([0, 1]))
    x = model.op("Add", x, model.op("MatMul", segments, model.weight(2, width)))
    return layer_norm(model, x, width)


def bert_large_half(folder, first, tokens=128, width=1024, heads=16):
    """Layers 0 to 11 with the embedding, or 12 to 23 with the answer, of one sequence."""
    model = ModelBuilder("bert-large-first-half" if first else "bert-large-second-half", folder)
    mask = model.input("mask", [1, tokens], TensorProto.INT32)
    if first:
        x = fused_bert_embedding(model, tokens, width)
    else:
        x = model.input("hidden", [1, tokens, width], TensorProto.FLOAT16)
    mask = model.op("Cast", model.op("Unsqueeze", mask, model.constant([1, 2], np.int64)), to=TensorProto.FLOAT16)
    mask = model.op("Mul", model.op("Sub", mask, model.constant(1)), model.constant(1000))
    for _ in range(12):
        x = fused_bert_layer(model, x, mask, tokens, width, heads)
    if first:
        model.output(x, [1, tokens, width])
    else:
        model.output(linear(model, x, width, 2), [1, tokens, 2])
    return model.save()


def vision_layer(model, x, tokens, width, heads, hidden):
    y = linear(model, layer_norm(model, x, width), width, 3 * width)
    query, key, value = split_heads(model, y, tokens, width, heads)
    scores = model.op("MatMul", model.op("Mul", query, model.constant((width // heads) ** -0.5)), key)
    y = model.op("MatMul", model.op("Softmax", scores, axis=-1), value)
    y = model.op("Reshape", model.op("Transpose", y, perm=[0, 2, 1, 3]),
                 model.constant([1, tokens, width], np.int64))
    x = model.op("Add", x, linear(model, y, width, width))
    y = linear(model, layer_norm(model, x, width), width, hidden)
    return model.op("Add", x, linear(model, gelu(model, y), hidden, width))


def siglip_so400m(folder, batch, layers=27, width=1152, heads=16, hidden=4304, size=384, patch=14):
    """The vision tower of SigLIP So400m/14, of one image: a vector for each patch."""
    assert batch == 1
    model = ModelBuilder(f"siglip-{batch}", folder)
    tokens = (size // patch) ** 2
    x = model.input("image", [1, 3, size, size], TensorProto.FLOAT16)
    x = model.op("Conv", x, model.weight(width, 3, patch, patch), model.weight(width),
                 kernel_shape=[patch] * 2, strides=[patch] * 2)
    x = model.op("Reshape", x, model.constant([1, width, tokens], np.int64))
    x = model.op("Add", model.op("Transpose", x, perm=[0, 2, 1]), model.weight(1, tokens, width))
    for _ in range(layers):
        x = vision_layer(model, x, tokens, width, heads, hidden)
    model.output(layer_norm(model, x, width), [1, tokens, width])
    return model.save()


# Recommendation

def wide_deep(folder, batch, columns=26, numbers=13, buckets=10000, embedding=32):
    """26 categories, each as (table, row), go through a linear model and through embeddings into a network."""
    model = ModelBuilder(f"wide-deep-{batch}", folder)
    numeric = model.input("numeric", [batch, numbers], TensorProto.FLOAT16)
    categories = model.input("categories", [columns * batch, 2], TensorProto.INT32)
    table, row = (model.op("Gather", categories, model.constant(i, np.int64), axis=1) for i in (0, 1))
    index = model.op("Add", model.op("Mul", table, model.constant(buckets, np.int32)), row)
    wide = model.op("Gather", model.weight(columns * buckets, 1), index)
    wide = model.op("Reshape", wide, model.constant([batch, columns], np.int64))
    wide = model.op("ReduceSum", wide, model.constant([1], np.int64), keepdims=1)
    deep = model.op("Gather", model.weight(columns * buckets, embedding), index)
    deep = model.op("Reshape", deep, model.constant([batch, columns * embedding], np.int64))
    deep = model.op("Concat", deep, numeric, axis=1)
    width = columns * embedding + numbers
    for units in (1024, 512, 256):
        deep = model.op("Relu", linear(model, deep, width, units))
        width = units
    logits = model.op("Add", linear(model, deep, width, 1), wide)
    model.output(model.op("Sigmoid", logits), [batch, 1])
    return model.save()
