"""Throughputs published for one C600, and what the compiler predicts for the same models and options.

    published_figures.py POPRT [--work FOLDER]

prints both for every row of section 4.1 of docs/ipu_model.md.
"""

import argparse
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
    Row("WideDeep", models.wide_deep, 8000, 128, 1024, 21955275, 1.0, PERFORMANCE_OPTIONS[:2]),
    Row("WideDeep", models.wide_deep, 51200, 32, 1024, 35545357, 0.6, PERFORMANCE_OPTIONS[:2]),
)


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


if __name__ == "__main__":
    main()
