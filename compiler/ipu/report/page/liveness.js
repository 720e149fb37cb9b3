// What is in memory while each operator runs.

/** Tensors in memory at an operator, the largest first. */
function liveTensors(graph, operator) {
  return graph.tensors
    .filter((tensor) => tensor.kind !== 'constant' && tensor.kind !== 'variable' &&
                        tensor.storage === null && tensor.first_operator <= operator &&
                        operator <= tensor.last_operator)
    .sort((a, b) => b.bytes - a.bytes);
}

function drawLiveness(graph, place) {
  const field = byId('liveness-by').value;
  const points = graph.operators.map((operator) => operator[field]);
  const most = Math.max(1, ...points);
  const [w, h, bottom, top] = [place.clientWidth, 230, 22, 24];
  const step = w / Math.max(1, points.length);
  const y = (value) => h - bottom - value / most * (h - bottom - top);
  const outline = points.map((value, i) =>
    `L${(i * step).toFixed(2)} ${y(value).toFixed(2)}H${((i + 1) * step).toFixed(2)}`).join('');
  const area = svg('path', { d: `M0 ${h - bottom}${outline}V${h - bottom}Z` });
  area.style.fill = 'var(--memory-variables_not_always_live)';
  area.style.opacity = '0.85';
  const peak = points.indexOf(Math.max(...points));
  const cursor = svg('line', { class: 'axis', y1: top - 6, y2: h - bottom, visibility: 'hidden' });
  cursor.style.stroke = 'var(--ink)';
  const chart = svg('svg', { viewBox: `0 0 ${w} ${h}`, height: h, role: 'img',
                             'aria-label': 'Live bytes at every operator' }, area,
    svg('line', { class: 'axis', x1: 0, x2: w, y1: h - bottom, y2: h - bottom }),
    svg('text', { x: 0, y: h - 5 }, 'first operator'),
    svg('text', { x: w, y: h - 5, 'text-anchor': 'end' }, 'last'),
    svg('text', { x: Math.min(w, Math.max(0, (peak + 0.5) * step)), y: 14,
                  'text-anchor': peak * step > w / 2 ? 'end' : 'start' },
        points.length > 0 ? `most: ${bytes(most)} at ${graph.operators[peak].op}` : ''), cursor);
  onHover(chart, (event) => {
    const box = chart.getBoundingClientRect();
    const index = Math.floor((event.clientX - box.left) / box.width * points.length);
    if (index < 0 || index >= points.length) return false;
    const x = (index + 0.5) * step;
    cursor.setAttribute('x1', x);
    cursor.setAttribute('x2', x);
    cursor.setAttribute('visibility', 'visible');
    const operator = graph.operators[index];
    showTip(event, operator.name || operator.op, [
      ['Live in all', bytes(points[index])],
      ...liveTensors(graph, index).slice(0, 5).map((tensor) => [tensor.name, bytes(tensor.bytes)]),
    ]);
    return true;
  });
  chart.addEventListener('pointerleave', () => cursor.setAttribute('visibility', 'hidden'));
  place.replaceChildren(chart);
}
