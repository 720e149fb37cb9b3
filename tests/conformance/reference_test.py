"""The evaluator that judges the compiler, by hand where it does more than call numpy."""

import unittest

import numpy as np
from onnx import TensorProto, helper
from reference import evaluate


def apply(operator, *arrays, **attributes):
    names = [f"x{i}" for i in range(len(arrays))]
    node = helper.make_node(operator, names, ["y"], **attributes)
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    model = helper.make_model(helper.make_graph([node], "g", [], [output]))
    return evaluate(model, dict(zip(names, arrays)))["y"].tolist()


IMAGE = np.arange(1, 10, dtype=np.float32).reshape(1, 1, 3, 3)


class ReferenceTest(unittest.TestCase):
    def test_conv_with_stride_and_uneven_pads(self):
        w = np.array([[[[1, 10], [100, 1000]]]], np.float32)
        y = apply(
            *("Conv", IMAGE, w, np.array([0.5], np.float32)),
            **{"kernel_shape": [2, 2], "strides": [2, 2], "pads": [1, 0, 0, 1], "group": 1},
        )
        # Windows [0 0; 1 2], [0 0; 3 0], [4 5; 7 8], [6 0; 9 0].
        self.assertEqual(y, [[[[2100.5, 300.5], [8754.5, 906.5]]]])

    def test_conv_in_groups(self):
        x = np.array([1, 2, 3, 4], np.float32).reshape(1, 4, 1, 1)
        w = np.array([[1, 10], [2, 20]], np.float32).reshape(2, 2, 1, 1)
        y = apply(
            *("Conv", x, w),
            **{"kernel_shape": [1, 1], "strides": [1, 1], "pads": [0, 0, 0, 0], "group": 2},
        )
        self.assertEqual(y, [[[[21.0]], [[86.0]]]])

    def test_max_pool_does_not_see_the_padding(self):
        y = apply("MaxPool", -IMAGE, kernel_shape=[2, 2], strides=[2, 2], pads=[1, 1, 0, 0])
        self.assertEqual(y, [[[[-1.0, -2.0], [-4.0, -5.0]]]])

    def test_average_pool_does_not_count_the_padding(self):
        y = apply("AveragePool", IMAGE, kernel_shape=[2, 2], strides=[2, 2], pads=[1, 1, 0, 0])
        self.assertEqual(y, [[[[1.0, 2.5], [5.5, 7.0]]]])

    def test_lrn(self):
        x = np.array([1.0, 2.0, 3.0]).reshape(1, 3, 1, 1)
        y = apply("LRN", x, size=3, alpha=3.0, beta=1.0, bias=1.0)
        np.testing.assert_allclose(np.ravel(y), [1 / 6, 2 / 15, 3 / 14])

    def test_reshape_keeps_extents_given_as_zero(self):
        y = apply("Reshape", np.array([[[1.0, 2.0]]]), np.array([0, -1]))
        self.assertEqual(y, [[1.0, 2.0]])

    def test_normalisations(self):
        x = np.array([[[[1.0]], [[3.0]]]])
        y = apply("BatchNormalization", x, *np.array([[2, 4], [1, 1], [0, 1], [3, 0]]), epsilon=1.0)
        self.assertEqual(y, [[[[2.0]], [[9.0]]]])
        ones = np.ones(2)
        y = apply("LayerNormalization", np.array([[0.0, 4.0]]), ones, ones, axis=-1, epsilon=0.0)
        self.assertEqual(y, [[0.0, 2.0]])

    def test_softmax_and_gemm(self):
        y = apply("Softmax", np.array([[1000.0, 1000.0, -1000.0]]), axis=-1)
        self.assertEqual(y, [[0.5, 0.5, 0.0]])
        y = apply("Softmax", np.array([[[7.0], [7.0]]]))
        self.assertEqual(y, [[[0.5], [0.5]]])
        b = np.array([[1.0, 10.0], [2.0, 20.0]])
        y = apply("Gemm", np.array([[1.0, 2.0]]), b, np.ones(2), transB=1)
        self.assertEqual(y, [[22.0, 43.0]])


if __name__ == "__main__":
    unittest.main()
