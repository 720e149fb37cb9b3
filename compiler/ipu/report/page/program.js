// Operators with their supersteps.

const FIRST_OPERATORS = 40;

function stepTable(operator) {
  const head = ['Phase', 'Step', 'Vertex', 'Tiles', 'Times', 'Cycles', 'Bytes', 'Temporary a tile'];
  const texts = ['text', 'text', 'text', '', '', '', '', ''];
  const body = operator.steps.map((step) => {
    const phase = html('span', {}, filled(PHASE_COLOURS[step.phase], 'swatch'), step.phase);
    const cells = [phase, step.name, step.vertex,
                   `${whole(step.tiles)} from ${whole(step.first_tile)}`, whole(step.repeats),
                   whole(step.cycles), bytes(step.bytes), bytes(step.temporary_bytes)];
    return html('tr', {}, ...cells.map((cell, i) => html('td', { class: texts[i] }, cell)));
  });
  return html('div', { class: 'scroll' }, html('table', {},
    html('thead', {}, html('tr', {}, ...head.map((name, i) => html('th', { class: texts[i] }, name)))),
    html('tbody', {}, ...body)));
}

function operatorFacts(graph, operator) {
  const names = (indices) => indices.map((index) => graph.tensors[index]?.name).join(', ');
  const facts = [];
  if (operator.grid !== '') facts.push('Grid: ' + operator.grid);
  if (operator.outlined !== null) {
    facts.push('Code shared with ' + (graph.operators[operator.outlined]?.name ?? ''));
  }
  if (plan.target.ipus > 1) facts.push(`IPU ${operator.ipu}, stage ${operator.stage}`);
  if (operator.inputs.length > 0) facts.push('Reads ' + names(operator.inputs));
  if (operator.outputs.length > 0) facts.push('Writes ' + names(operator.outputs));
  return facts.map((fact) => html('p', { class: 'facts' }, fact));
}

function operatorEntry(graph, operator) {
  const entry = html('details', {}, html('summary', {},
    html('span', { class: 'op' }, operator.op), html('span', { class: 'name' }, operator.name),
    html('span', { class: 'figure' }, whole(operator.cycles) + ' cycles')));
  entry.addEventListener('toggle', () => {
    if (!entry.open || entry.children.length > 1) return;
    entry.append(html('div', { class: 'steps' }, ...operatorFacts(graph, operator),
                      stepTable(operator)));
  });
  return entry;
}

function drawTree(graph) {
  const place = byId('tree');
  const entries = (operators) => operators.map((operator) => operatorEntry(graph, operator));
  place.replaceChildren(...entries(graph.operators.slice(0, FIRST_OPERATORS)));
  if (graph.operators.length <= FIRST_OPERATORS) return;
  const more = html('button', { type: 'button', class: 'more', click: () => {
    more.remove();
    place.append(...entries(graph.operators.slice(FIRST_OPERATORS)));
  } }, `Show all ${whole(graph.operators.length)}`);
  place.append(more);
}
