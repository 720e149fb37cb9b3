'use strict';

// Draws the plan, which is the document of report.json (docs/ipu_report.md). Names in it come from
// models: they reach the page as text only, never as markup.

const plan = JSON.parse(document.getElementById('plan').textContent);
const byId = (id) => document.getElementById(id);

/** Rows of a table as objects. */
function rowsOf(table) {
  return table.rows.map((row) =>
    Object.fromEntries(table.columns.map((column, i) => [column, row[i]])));
}

/** One figure for each tile, from its run-length coded form. */
function figuresOf(runs) {
  const figures = [];
  for (let i = 0; i < runs.length; i += 2) {
    for (let n = 0; n < runs[i]; ++n) figures.push(runs[i + 1]);
  }
  return figures;
}

const expansions = plan.expansions.map((entry) => ({ ...entry, steps: rowsOf(entry.steps) }));
const layouts = rowsOf(plan.layouts);
const graphs = plan.graphs.map((graph) => ({
  ...graph,
  phases: rowsOf(graph.phases),
  timeline: rowsOf(graph.timeline),
  operators: rowsOf(graph.operators).map(
    (row, index) => ({ ...row, ...expansions[row.expansion], index })),
  tensors: rowsOf(graph.tensors).map((row) => ({ ...layouts[row.layout], ...row })),
}));
const categories = rowsOf(plan.memory.categories);
const tileFigures = Object.fromEntries(
  Object.entries(plan.memory.tiles).map(([name, runs]) => [name, figuresOf(runs)]));
const tileTotals = (tileFigures[categories[0].category] || []).map(
  (_, tile) => categories.reduce((sum, c) => sum + tileFigures[c.category][tile], 0));
const clock = plan.target.platform.clock_hz;
const tileBytes = plan.target.sram_bytes_per_tile;

const CATEGORY_NAMES = {
  variables_always_live: 'Weights loaded by the host',
  variables_not_always_live: 'Activations and temporaries',
  constants: 'Weights in the program',
  vertex_code: 'Vertex code',
  vertex_state: 'Vertex state',
  internal_exchange_code: 'Exchange code',
  host_exchange_code: 'Host exchange code',
  control_code: 'Control code',
  stack: 'Stack',
};

const PHASE_COLOURS = {
  'compute': 'phase-compute',
  'exchange': 'phase-exchange',
  'copy': 'phase-copy',
  'host load': 'phase-host',
  'host store': 'phase-store',
  'I/O to compute': 'phase-io-copy',
  'compute to I/O': 'phase-io-copy',
};

const ACTIVITY_COLOURS = {
  'load': 'phase-host',
  'store': 'phase-store',
  'copy in': 'phase-io-copy',
  'copy out': 'phase-io-copy',
};

/** Phases in which the host or I/O tiles take part; all others belong to an operator's own work. */
const STREAM_PHASES = ['host load', 'host store', 'I/O to compute', 'compute to I/O'];
