"""Bad input to `poprt`: one case for each kind, with the exact text, the exit code, and the check that
no output file is left.

    run_errors_test.py PATH_TO_POPRT [unittest arguments]

Every case runs in a folder of its own that holds small models made here.
"""

import os
import subprocess
import sys
import tempfile
import unittest

from onnx import TensorProto, helper

POPRT = ""
FILES = {}


def model(shape, *nodes):
    """A model with one input X and one output Y, as bytes."""
    x = helper.make_tensor_value_info("X", TensorProto.FLOAT, shape)
    y = helper.make_tensor_value_info("Y", TensorProto.FLOAT, shape)
    graph = helper.make_graph(nodes, "g", [x], [y])
    opset = [helper.make_opsetid("", 13)]
    return helper.make_model(graph, opset_imports=opset).SerializeToString()


def make_files():
    relu = helper.make_node("Relu", ["X"], ["Y"], name="relu0")
    good = model([1, 2], relu)
    return {
        "good.onnx": good,
        "open.onnx": model(["N", 2], relu),
        "unsupported.onnx": model(
            [1, 2],
            helper.make_node("Magic", ["X"], ["m"], name="magic0"),
            helper.make_node("Wonder", ["m"], ["Y"], name="wonder0"),
        ),
        "empty.onnx": b"",
        "truncated.onnx": good[: len(good) // 2],
        "text.onnx": b"this is a text file, not a model\n",
        "file": b"",
    }


class ErrorsTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        for name, content in FILES.items():
            self.write(name, content)

    def write(self, name, content):
        with open(os.path.join(self.folder.name, name), "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())

    def poprt(self, *arguments):
        return subprocess.run(
            [POPRT, *arguments, "--disable_compilation_progress_bar"],
            cwd=self.folder.name,
            capture_output=True,
            text=True,
            check=False,
        )

    def refused(self, code, lines, *arguments):
        """Runs the tool and checks exit code, the error lines, and that no file appears."""
        before = sorted(os.listdir(self.folder.name))
        result = self.poprt(*arguments)
        self.assertEqual(result.stderr, "".join(f"error: {line}\n" for line in lines))
        self.assertEqual(result.returncode, code)
        self.assertEqual(result.stdout, "")
        self.assertEqual(sorted(os.listdir(self.folder.name)), before)

    def refused_yaml(self, code, lines, text):
        self.write("c.yaml", text)
        self.refused(code, lines, "--config_yaml", "c.yaml")

    # The command line.

    def test_no_arguments(self):
        self.refused(2, ["there is no model: give --input_model or --config_yaml"])

    def test_unknown_options_and_words(self):
        self.refused(
            2,
            [
                "unknown option '--ouput_dir'; did you mean '--output_dir'?",
                "unexpected word 'good.onnx' behind --export_popef, which takes no value; a model "
                "is given with --input_model, the folder of results with --output_dir",
            ],
            "--ouput_dir=x",
            "--export_popef",
            "good.onnx",
        )

    def test_options_that_are_not_there_yet(self):
        self.refused(
            2,
            [
                "--check: this option of PopRT is not there yet",
                "--fp8_params: this option of PopRT is not there yet",
            ],
            *("-i", "good.onnx", "--check", "--fp8_params", "F143,F143,-1,-1"),
        )

    def test_values_that_are_not_there_yet(self):
        self.refused(
            2,
            [
                "--precision: 'fp8' is not there yet; allowed: fp32, fp16",
            ],
            *("-i", "good.onnx", "--precision", "fp8"),
        )

    def test_several_ipus(self):
        self.refused(
            2,
            [
                "--compiler_options: compiler option 'num_ipus' is '65', out of range; allowed: an "
                "integer from 1 to 64"
            ],
            *("-i", "good.onnx", "--compiler_options", "num_ipus=65"),
        )
        self.refused(
            1,
            [
                "enable_pipelining is true and num_ipus is 1: raise it and place nodes by "
                "__ipu_number or --manual_sharding_config, or let --auto_sharding N find N stages"
            ],
            *("-i", "good.onnx", "--export_popef"),
            *("--compiler_options", "enable_pipelining=true"),
        )

    def test_missing_files(self):
        self.refused(
            1,
            [
                "--input_model: there is no file 'a.onnx'",
                "--input_model: there is no file 'b.onnx'",
            ],
            *("-i", "a.onnx", "-i", "b.onnx", "--export_popef"),
        )
        self.refused(
            1,
            ["--config_yaml: there is no file 'no.yaml'"],
            *("--config_yaml", "no.yaml"),
        )
        self.refused(
            1,
            ["target file 'no.yaml' can't be read: No such file or directory"],
            *("-i", "good.onnx", "--target_config", "no.yaml"),
        )

    def test_folders_in_the_place_of_files(self):
        os.mkdir(os.path.join(self.folder.name, "exported"))
        self.refused(
            1,
            [
                "--input_model: 'exported' is a folder; give a file in it, e.g. "
                "'exported/model.onnx'"
            ],
            *("-i", "exported", "--export_popef"),
        )
        self.refused(
            1,
            [
                "--config_yaml: 'exported' is a folder; give a file in it, e.g. "
                "'exported/config.yaml'"
            ],
            *("--config_yaml", "exported"),
        )
        self.refused(
            1,
            ["target file 'exported' can't be read: Is a directory"],
            *("-i", "good.onnx", "--target_config", "exported"),
        )

    def test_output_folder_that_cannot_be_written(self):
        self.refused(
            1,
            [
                "cannot write to output folder 'file/out': 'file' is no folder; "
                "choose another --output_dir"
            ],
            *("-i", "good.onnx", "--export_popef", "--output_dir", "file/out"),
        )

    def test_input_that_would_be_overwritten(self):
        self.refused(
            2,
            [
                "the converted model would overwrite its input 'good.onnx'; "
                "choose another --output_dir or --output_model"
            ],
            *("-i", "good.onnx", "--output_model", "good.onnx"),
        )

    def test_external_data_that_would_be_overwritten(self):
        tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[2])
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value="w.bin")
        x = helper.make_tensor_value_info("X", TensorProto.FLOAT, [2])
        y = helper.make_tensor_value_info("Y", TensorProto.FLOAT, [2])
        add = helper.make_node("Add", ["X", "w"], ["Y"])
        graph = helper.make_graph([add], "g", [x], [y], [tensor])
        self.write("outside.onnx", helper.make_model(graph).SerializeToString())
        self.write("w.bin", b"12345678")
        self.refused(
            2,
            [
                "the converted model would overwrite data of its input 'w.bin'; "
                "choose another --output_dir or --output_model"
            ],
            *("-i", "outside.onnx", "--output_model", "w.bin"),
        )

    def test_results_that_would_overwrite_each_other(self):
        self.refused(
            2,
            [
                "the converted model and the container would both be 'executable.popef'; "
                "choose another --output_model"
            ],
            *("-i", "good.onnx", "--export_popef", "--output_model", "executable.popef"),
        )

    def test_container_that_would_overwrite_a_model(self):
        self.write("executable.popef", FILES["good.onnx"])
        self.refused(
            2,
            [
                "the container would overwrite its input 'executable.popef'; "
                "choose another --output_dir"
            ],
            *("-i", "executable.popef", "--export_popef"),
        )

    def test_configuration_file_that_would_be_overwritten(self):
        self.refused_yaml(
            2,
            [
                "the converted model would overwrite the configuration file 'c.yaml'; "
                "choose another --output_dir or --output_model"
            ],
            "input_model: good.onnx\noutput_model: c.yaml\n",
        )

    def test_options_that_contradict_each_other(self):
        self.refused(
            2,
            ["--batch_axis: needs batch_size", "--fp16_skip_op_types: needs precision fp16"],
            *("-i", "good.onnx", "--batch_axis", "0", "--fp16_skip_op_types", "Relu"),
        )

    def test_passes_that_do_not_exist(self):
        self.refused(
            2,
            [
                "--passes: pass 'fused_attention' of PopRT is not there yet; "
                "--list_all_passes shows those that are",
                "--skip_passes: unknown pass 'final_chek'; did you mean 'final_check'?",
            ],
            *("-i", "good.onnx", "--passes", "fused_attention", "--skip_passes", "final_chek"),
        )

    def test_repeated_option(self):
        self.refused(
            2,
            ["--precision is given twice: give it once"],
            *("-i", "good.onnx", "--precision", "fp16", "--precision", "fp16"),
        )

    def test_name_of_a_graph_with_a_slash(self):
        self.refused(
            1,
            [
                "--input_model: there is no file 'a/b=good.onnx'; the name of a graph must not "
                "contain '/', as 'a/b' does: use letters, digits, '_', '-' and '.'"
            ],
            *("-i", "a/b=good.onnx"),
        )

    def test_missing_file_and_what_is_wrong_with_the_others(self):
        self.refused(
            1,
            [
                "--input_model: there is no file 'no.onnx'",
                "empty.onnx: the file is empty, expected an ONNX model",
            ],
            *("-i", "no.onnx", "good.onnx", "empty.onnx", "--export_popef"),
        )

    def test_json_repeats_the_errors(self):
        result = self.poprt("--json", "-i", "a.onnx")
        self.assertEqual(result.returncode, 1)
        self.assertEqual(
            result.stdout,
            '{\n  "status": "error",\n  "exit_code": 1,\n  "errors": [\n'
            "    \"--input_model: there is no file 'a.onnx'\"\n  ]\n}\n",
        )

    # The configuration file.

    def test_yaml_problems_all_at_once(self):
        self.refused_yaml(
            2,
            [
                "c.yaml:1: unknown key 'ouput_dir'; did you mean 'output_dir'?",
                "c.yaml:2: max_tensor_size: found 'large', expected an integer",
                "c.yaml:3: check: this option of PopRT is not there yet",
                "c.yaml:6: input_shape: found a map, expected a list like ['NAME=1,512']",
                "c.yaml:7: input_model: is given twice, first in line 5",
                "c.yaml:5: input_model: there is no file 'no.onnx', neither in the working "
                "directory nor beside the configuration file",
            ],
            "ouput_dir: x\nmax_tensor_size: large\ncheck: true\nmodel_fusion:\n"
            "  - input_model: no.onnx\n    input_shape: {X: 1}\n    input_model: good.onnx\n",
        )

    def test_what_is_no_yaml(self):
        self.refused_yaml(
            1,
            ["c.yaml:2: this is no YAML: end of sequence flow not found"],
            "input_model: [good.onnx\nexport_popef: true\n",
        )

    # Models.

    def test_files_that_are_no_models(self):
        self.refused(
            1,
            [
                "truncated.onnx: the file is truncated or not an ONNX model",
                "text.onnx: the file is truncated or not an ONNX model",
                "empty.onnx: the file is empty, expected an ONNX model",
            ],
            *("-i", "truncated.onnx", "text.onnx", "empty.onnx", "--export_popef"),
        )

    def test_unknown_input_name(self):
        self.refused(
            1,
            [
                "good.onnx: --input_shape names 'Q', which is no input of the model "
                "(inputs: 'X')"
            ],
            *("-i", "good.onnx", "--input_shape", "Q=1,2", "--export_popef"),
        )
        self.refused(
            1,
            ["--input_shape: no model has an input 'Q'"],
            *("-i", "good.onnx", "open.onnx", "--input_shape", "Q=1,2", "--export_popef"),
        )

    def test_shape_of_another_rank(self):
        self.refused(
            1,
            [
                "good.onnx: input 'X' --input_shape asks for [1], but the model has "
                "2 dimensions: [1, 2]"
            ],
            *("-i", "good.onnx", "--input_shape", "X=1", "--export_popef"),
        )

    def test_shape_that_contradicts_a_known_dimension(self):
        self.refused(
            1,
            [
                "open.onnx: input 'X' --input_shape asks for [1, 3], but the model fixes "
                "dimension 1: [N, 2]"
            ],
            *("-i", "open.onnx", "--input_shape", "X=1,3", "--export_popef"),
        )

    def test_shape_left_open(self):
        self.refused(
            1,
            [
                "open.onnx: input 'X' has the shape [N, 2] with open dimensions; "
                "fix them, e.g. --input_shape X=1,2"
            ],
            *("-i", "open.onnx", "--export_popef"),
        )

    def test_unsupported_operators_all_at_once(self):
        why = "the operator is not supported; replace it by operators listed in docs/operators.md"
        self.refused(
            1,
            [
                "unsupported.onnx: node 'magic0' (Magic, opset 13, inputs float32[1, 2]): " + why,
                "unsupported.onnx: node 'wonder0' (Wonder, opset 13, inputs ?): " + why,
            ],
            *("-i", "unsupported.onnx", "--export_popef"),
        )

    # Strings live only while compiling.

    def write_strings(self):
        """A model with an input, two outputs of strings and one of numbers."""
        nodes = [
            helper.make_node("Constant", [], ["greeting"], value_string="hello"),
            helper.make_node("Constant", [], ["words"], value_strings=["a", "b"]),
            helper.make_node("Relu", ["X"], ["Y"]),
        ]
        x = helper.make_tensor_value_info("X", TensorProto.FLOAT, [2])
        outputs = [
            helper.make_tensor_value_info("greeting", TensorProto.STRING, []),
            helper.make_tensor_value_info("Y", TensorProto.FLOAT, [2]),
            helper.make_tensor_value_info("words", TensorProto.STRING, [2]),
        ]
        graph = helper.make_graph(nodes, "g", [x], outputs)
        opset = [helper.make_opsetid("", 13)]
        self.write(
            "strings.onnx", helper.make_model(graph, opset_imports=opset).SerializeToString()
        )

    def test_outputs_of_strings(self):
        self.write_strings()
        why = ", and strings do not survive to run time; remove that output from the model"
        lines = [
            "strings.onnx: output 'greeting' is string[]" + why,
            "strings.onnx: output 'words' is string[2]" + why,
        ]
        self.refused(1, lines, "-i", "strings.onnx", "--export_popef")
        self.refused(1, lines, *("-i", "strings.onnx", "-i", "good.onnx", "--export_popef"))

    def test_strings_made_at_run_time(self):
        cast = helper.make_node("Cast", ["X"], ["s"], name="cast0", to=TensorProto.STRING)
        concat = helper.make_node("StringConcat", ["s", "s"], ["Y"], name="concat0")
        x = helper.make_tensor_value_info("X", TensorProto.FLOAT, [2])
        y = helper.make_tensor_value_info("Y", TensorProto.STRING, [2])
        graph = helper.make_graph([cast, concat], "g", [x], [y])
        opset = [helper.make_opsetid("", 20)]
        self.write("cast.onnx", helper.make_model(graph, opset_imports=opset).SerializeToString())
        self.refused(
            1,
            [
                "cast.onnx: node 'cast0' (Cast, opset 20, inputs float32[2]): makes strings of a "
                "tensor that is computed at run time, but strings do not survive to run time; "
                "freeze the inputs that it is computed from"
            ],
            *("-i", "cast.onnx", "--export_popef"),
        )

    def test_inputs_of_strings(self):
        x = helper.make_tensor_value_info("X", TensorProto.STRING, [2])
        y = helper.make_tensor_value_info("Y", TensorProto.BOOL, [2])
        equal = helper.make_node("Equal", ["X", "X"], ["Y"], name="equal0")
        graph = helper.make_graph([equal], "g", [x], [y])
        opset = [helper.make_opsetid("", 19)]
        self.write("input.onnx", helper.make_model(graph, opset_imports=opset).SerializeToString())
        self.refused(
            1,
            [
                "input.onnx: input 'X' is a tensor of strings, which a compiled model cannot take; "
                "give its value with --freeze_input X=FILE"
            ],
            *("-i", "input.onnx", "--export_popef"),
        )


def main():
    global POPRT, FILES
    POPRT = os.path.abspath(sys.argv.pop(1))
    FILES = make_files()
    unittest.main()


if __name__ == "__main__":
    main()
