"""Throughputs published for one C600, memory published for one IPU-M2000, and what the compiler predicts for the
same models and options.

    published_figures.py POPRT [--work FOLDER]

prints both for every row of "Validation" in docs/ipu_model.md.
"""

import argparse
import copy
import json
import math
import pathlib
import subprocess
import tempfile
from dataclasses import dataclass
from typing import Callable

import published_models as models

PERFORMANCE_OPTIONS = ("use_128bit_conv_unit_load=true", "enable_fast_reduce=true",
                       "enable_multi_stage_reduce=false")


@dataclass(frozen=True)
class Row:
    """One published measurement."""

    name: str
    make: Callable[[pathlib.Path, int], pathlib.Path]
    batch: int
    io_tiles: int
    batches_per_step: int
    samples_per_second: float
    proportion: float = 0.6
    options: tuple = ()
    large: bool = True  # held to the bounds
    fits: bool = True  # not where the published weights were of 8 bits, which ours are not


@dataclass(frozen=True)
class Comparison:
    row: Row
    predicted: dict  # of the graph, as poprt --json gives it
    ipu: dict

    @property
    def ratio(self):
        return self.predicted["throughput"] / self.row.samples_per_second


ROWS = (
    Row("ResNet50", models.resnet50, 80, 32, 128, 15541.2),
    Row("ResNet50", models.resnet50, 1, 0, 1, 3118.8, large=False),
    Row("BERT-base", models.bert_base, 16, 0, 64, 4817.2, 0.4, PERFORMANCE_OPTIONS),
    Row("BERT-base", models.bert_base, 128, 0, 64, 5671.7, 0.4, PERFORMANCE_OPTIONS),
    Row("BERT-large", models.bert_large, 18, 0, 256, 1472.8, 0.15),
    Row("SigLIP", models.siglip_so400m, 1, 0, 1, 83.9, large=False, fits=False),
    Row("WideDeep", models.wide_deep, 8000, 128, 1024, 21955275, 1.0, PERFORMANCE_OPTIONS[:2]),
    Row("WideDeep", models.wide_deep, 51200, 32, 1024, 35545357, 0.6, PERFORMANCE_OPTIONS[:2]),
)


@dataclass(frozen=True)
class MemoryRow:
    """Bytes over all tiles and on the fullest one, as the tests of Graphcore's popliner expect them of the
    profile of a compiled program."""

    name: str
    make: Callable[[pathlib.Path], pathlib.Path]
    bytes: dict
    shares_products: bool = False  # alike ones share code
    older_poplar: bool = False  # before vertices that all workers share: they run on the supervisor


def published_bytes(variables, vertex_code, vertex_state, exchange_code, control_code, fullest_tile):
    return {"variables": variables, "vertex code": vertex_code, "vertex state": vertex_state,
            "exchange code": exchange_code, "control code": control_code, "fullest tile": fullest_tile}


MEMORY_ROWS = (
    MemoryRow("BERT-large, layers 0 to 11", lambda folder: models.bert_large_half(folder, True),
              published_bytes(416249974, 9664672, 12826418, 15544264, 16535740, 336670)),
    MemoryRow("BERT-large, layers 12 to 23", lambda folder: models.bert_large_half(folder, False),
              published_bytes(353891960, 8081590, 12634268, 12260900, 16327096, 291170)),
    MemoryRow("EfficientNet-EdgeTPU-L", models.efficientnet_edgetpu_l,
              published_bytes(170958840, 17381396, 18579720, 43089872, 8861908, 194798),
              shares_products=True, older_poplar=True),
)

# Of report.json, by the names of popliner.
CATEGORIES = {"variables": ("variables_always_live", "variables_not_always_live", "constants"),
              "vertex code": ("vertex_code",), "vertex state": ("vertex_state",),
              "exchange code": ("internal_exchange_code",), "control code": ("control_code",)}

# Of a step of report.json, what operators may share.
CODE_COLUMNS = {"vertex state": "vertex_state_bytes", "exchange code": "exchange_code_bytes",
                "control code": "control_code_bytes"}
CALL_COPIES, COPY_STATE_BYTES, CALL_CONTROL_BYTES = 3, 16, 4
SUPERVISOR_CONTROL_BYTES = 8

# Operators of the embedding and of layer 0 in the first of MEMORY_ROWS, by the names of the model's nodes: vertex
# state, exchange code and control code over all tiles.
OPERATOR_ROWS = {
    "Gather_0": ("words", 92496, 543924, 82320),
    "Gather_1": ("positions", 40960, 90864, 31136),
    "MatMul_11": ("queries, keys, values", 86272, 520300, 104228),
    "MatMul_21": ("attention scores", 94208, 343312, 115008),
    "Mul_22": ("scale", 15360, 0, 25600),
    "Add_23": ("mask", 20480, 28096, 30720),
    "Softmax_24": ("softmax", 160768, 102048, 201216),
    "MatMul_25": ("attention values", 65536, 198508, 82800),
    "MatMul_28": ("projection", 86272, 472528, 105216),
    "Add_29": ("residual", 17472, 42468, 34880),
    "LayerNormalization_30": ("layer norm", 221120, 227504, 261016),
    "MatMul_31": ("feed forward", 86272, 443848, 103636),
    "Add_32": ("bias", 25088, 39380, 35840),
}
OPERATOR_COLUMNS = ("vertex_state_bytes", "exchange_code_bytes", "control_code_bytes")

# Control code of the same products as an older Poplar compiled them: popliner's first tests.
OLDER_PRODUCT_CONTROL_BYTES = {"MatMul_11": 63744, "MatMul_21": 74524, "MatMul_25": 52464}


def plan(poprt, model, folder, row):
    """The predictions of `poprt --json` for a model, with the options of the row."""
    command = [poprt, "-i", model, "--output_dir", folder, "--report", "--json", "--allow_out_of_memory",
               "--ipu_version", "ipu21", "--platform", "c600",
               "--num_io_tiles", row.io_tiles, "--batches_per_step", row.batches_per_step,
               "--available_memory_proportion", row.proportion]
    if row.options:
        command += ["--compiler_options", *row.options]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{row.name} {row.batch}: {done.stderr}")
    return json.loads(done.stdout)


def compare(poprt, row, work):
    """Makes the model in a folder of its own, which is removed, and plans it."""
    with tempfile.TemporaryDirectory(dir=work) as folder:
        model = row.make(pathlib.Path(folder), row.batch)
        ipu = plan(poprt, model, folder, row)["ipu"]
    return Comparison(row, ipu["graphs"][0], ipu)


def rows_of(table):
    return [dict(zip(table["columns"], cells)) for cells in table["rows"]]


def memory_report(poprt, row, work):
    """report.json of a program whose operators all have code of their own."""
    with tempfile.TemporaryDirectory(dir=work) as folder:
        model = row.make(pathlib.Path(folder))
        command = [poprt, "-i", model, "--output_dir", folder, "--profile_dir", folder, "--ipu_version", "ipu2",
                   "--platform", "m2000", "--compiler_options", "enable_outlining=false"]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{row.name}: {done.stderr}")
        report = json.loads((pathlib.Path(folder) / "report.json").read_text())
    return with_older_control_code(report) if row.older_poplar else report


def memory_bytes(row, report):
    """By the names of MemoryRow."""
    by_category = {category["category"]: category["bytes"] for category in rows_of(report["memory"]["categories"])}
    predicted = {name: sum(by_category[category] for category in categories)
                 for name, categories in CATEGORIES.items()}
    predicted |= {"fullest tile": report["memory"]["fullest_tile_bytes"]}
    if row.shares_products:
        for name, saved in shared_bytes(report).items():
            predicted[name] -= saved
            predicted["fullest tile"] -= saved // report["target"]["tiles_per_ipu"]
    return predicted


def with_older_control_code(report):
    """The report as the older Poplar has it, where every vertex that is alone on its tile runs on the supervisor."""
    report = copy.deepcopy(report)
    change = 0
    for operator in rows_of(report["graphs"][0]["operators"]):
        table = report["expansions"][operator["expansion"]]["steps"]
        for step in rows_of(table):
            change += step["tiles"] * (older_control_code(step) - step["control_code_bytes"])
    for expansion in report["expansions"]:
        column = expansion["steps"]["columns"].index("control_code_bytes")
        for step, cells in zip(rows_of(expansion["steps"]), expansion["steps"]["rows"]):
            cells[column] = older_control_code(step)
    categories = report["memory"]["categories"]
    for cells in categories["rows"]:
        if cells[categories["columns"].index("category")] == "control_code":
            cells[categories["columns"].index("bytes")] += change
    report["memory"]["fullest_tile_bytes"] += change // report["target"]["tiles_per_ipu"]
    return report


def older_control_code(step):
    alone = 0 < step["vertices"] <= step["tiles"]
    return SUPERVISOR_CONTROL_BYTES if alone else step["control_code_bytes"]


def shared_bytes(report):
    """What is saved when products that are alike are one function, as TensorFlow for the IPU has it: all but one of
    each, but for a copy of both operands and of the result at every call. A bias is none of the product."""
    saved = dict.fromkeys(CODE_COLUMNS, 0)
    expansions = [operator["expansion"] for operator in rows_of(report["graphs"][0]["operators"])]
    for number in set(expansions):
        calls = expansions.count(number)
        expansion = report["expansions"][number]
        if not expansion["grid"] or calls == 1:
            continue
        steps = [step for step in rows_of(expansion["steps"]) if not step["name"].endswith("add bias")]
        called = steps[0]["tiles"] * calls
        copies = called * CALL_COPIES
        saved["vertex state"] -= copies * COPY_STATE_BYTES
        saved["control code"] -= copies * SUPERVISOR_CONTROL_BYTES + called * CALL_CONTROL_BYTES
        for step in steps:
            for name, column in CODE_COLUMNS.items():
                # Equal exchanges of activations have their code once in any case.
                if name != "exchange code" or step["name"].startswith("broadcast"):
                    saved[name] += (calls - 1) * step["tiles"] * step[column]
    return saved


def operator_bytes(report):
    """By the names of the nodes, as in OPERATOR_ROWS."""
    predicted = {}
    for operator in rows_of(report["graphs"][0]["operators"]):
        steps = rows_of(report["expansions"][operator["expansion"]]["steps"])
        predicted[operator["name"]] = tuple(sum(step["tiles"] * step[column] for step in steps)
                                            for column in OPERATOR_COLUMNS)
    return predicted


def geometric_mean(ratios):
    return math.exp(sum(math.log(ratio) for ratio in ratios) / len(ratios))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("poprt")
    parser.add_argument("--work", help="folder for the models, which need 1 GB")
    arguments = parser.parse_args()
    print(f"{'model':10} {'batch':>6} {'published':>12} {'predicted':>12} {'ratio':>6} "
          f"{'cycles':>12} {'fullest tile':>13}")
    large = []
    for row in ROWS:
        result = compare(arguments.poprt, row, arguments.work)
        if row.large:
            large.append(result.ratio)
        print(f"{row.name:10} {row.batch:6} {row.samples_per_second:12.0f} "
              f"{result.predicted['throughput']:12.0f} {result.ratio:6.2f} "
              f"{result.predicted['cycles']:12} {result.ipu['fullest_tile_bytes']:13}", flush=True)
    print(f"geometric mean of the large batches {geometric_mean(large):.2f}")
    print(f"\n{'memory':28} {'':14} {'published':>12} {'predicted':>12} {'ratio':>6}")
    reports = [memory_report(arguments.poprt, row, arguments.work) for row in MEMORY_ROWS]
    for row, report in zip(MEMORY_ROWS, reports):
        for name, predicted in memory_bytes(row, report).items():
            print(f"{row.name:28} {name:14} {row.bytes[name]:12} {predicted:12} "
                  f"{predicted / row.bytes[name]:6.2f}")
    print(f"\n{'operator':24}" + 3 * f"{'published':>12} {'predicted':>9}")
    operators = operator_bytes(reports[0])
    for node, (name, *published) in OPERATOR_ROWS.items():
        print(f"{name:24}" + "".join(f"{a:12} {b:9}" for a, b in zip(published, operators[node])))


if __name__ == "__main__":
    main()
