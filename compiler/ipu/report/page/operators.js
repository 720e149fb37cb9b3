// Operators and vertices as tables.

const movedBytes = (operator) => sum(operator.steps, (step) => step.bytes * step.repeats);

function operatorColumns(graph) {
  const all = graph.device_cycles;
  const largest = most(graph.operators, (operator) => operator.cycles);
  const temporary = (operator) => most(operator.steps, (step) => step.temporary_bytes);
  return [
    { title: 'Operator', figure: (row) => row.name || row.op, className: 'text name' },
    { title: 'Type', figure: (row) => row.op, className: 'text' },
    { title: 'Cycles', figure: (row) => row.cycles, text: whole },
    { title: 'Share', figure: (row) => row.cycles, cell: (row) => shareCell(row.cycles, all, largest) },
    { title: 'Bytes moved', figure: movedBytes, text: bytes },
    { title: 'Temporary a tile', figure: temporary, text: bytes },
    { title: 'Work', figure: (row) => row.flops, text: (value) => value > 0 ? flops(value) : '' },
    { title: 'Position', figure: (row) => row.index, text: whole },
  ];
}

/** What all operators of a type take together. */
function operatorTypes(graph) {
  const types = new Map();
  for (const operator of graph.operators) {
    const type = types.get(operator.op) || { op: operator.op, count: 0, cycles: 0, moved: 0, flops: 0 };
    ++type.count;
    type.cycles += operator.cycles;
    type.moved += movedBytes(operator);
    type.flops += operator.flops;
    types.set(operator.op, type);
  }
  return [...types.values()];
}

/** An empty table in the place of the one before, whose columns belonged to another graph. */
function freshTable(id) {
  const table = html('table', { id });
  byId(id).parentElement.replaceChildren(table);
  return table;
}

function drawOperatorTypes(graph) {
  const rows = operatorTypes(graph);
  const largest = most(rows, (row) => row.cycles);
  const columns = [
    { title: 'Type', figure: (row) => row.op, className: 'text name' },
    { title: 'Cycles', figure: (row) => row.cycles, text: whole },
    { title: 'Share', figure: (row) => row.cycles,
      cell: (row) => shareCell(row.cycles, graph.device_cycles, largest) },
    { title: 'Operators', figure: (row) => row.count, text: whole },
    { title: 'Bytes moved', figure: (row) => row.moved, text: bytes },
    { title: 'Work', figure: (row) => row.flops, text: (value) => value > 0 ? flops(value) : '' },
  ];
  new SortableTable(freshTable('type-table'), columns, columns[1]).show(rows);
}

function drawOperators(graph) {
  const table = freshTable('operator-table');
  const columns = operatorColumns(graph);
  const sortable = new SortableTable(table, columns, columns[2]);
  const filter = byId('filter');
  const update = () => {
    const wanted = filter.value.trim().toLowerCase();
    const rows = graph.operators.filter((operator) =>
      (operator.name + ' ' + operator.op).toLowerCase().includes(wanted));
    byId('operator-count').textContent =
      `${whole(rows.length)} of ${whole(graph.operators.length)} operators`;
    sortable.show(rows);
  };
  filter.oninput = update;
  update();
}

function drawVertexTypes() {
  const rows = rowsOf(plan.vertex_types);
  const all = sum(rows, (row) => row.cycles);
  const largest = most(rows, (row) => row.cycles);
  const columns = [
    { title: 'Vertex', figure: (row) => row.vertex, className: 'text name' },
    { title: 'Cycles', figure: (row) => row.cycles, text: whole },
    { title: 'Share', figure: (row) => row.cycles, cell: (row) => shareCell(row.cycles, all, largest) },
    { title: 'Instances', figure: (row) => row.instances, text: whole },
    { title: 'State', figure: (row) => row.state_bytes, text: bytes },
  ];
  new SortableTable(byId('vertex-table'), columns, columns[1]).show(rows);
}
