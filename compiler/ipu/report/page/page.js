// Draws everything, and again what depends on sizes and colours.

let shown = graphs[0];
const timeline = new Timeline(byId('timeline-canvas'));
const tileMap = new TileMap(byId('map'), byId('map-by'));

/** What has the size of its place or colours of its own: again after every change of those. */
function drawSized() {
  tileMap.draw();
  drawHistogram(byId('histogram'));
  if (shown === undefined) return;
  timeline.draw();
  drawLiveness(shown, byId('liveness-chart'));
}

function showGraph(graph) {
  shown = graph;
  for (const button of byId('graphs').children) {
    button.setAttribute('aria-pressed', String(graphs[button.dataset.graph] === graph));
  }
  drawPerformance(graph);
  timeline.show(graph);
  drawLiveness(graph, byId('liveness-chart'));
  drawOperatorTypes(graph);
  drawOperators(graph);
  drawTree(graph);
}

function drawPage() {
  drawHead();
  describeTimeline();
  drawOverflow();
  drawCategories();
  drawVertexTypes();
  drawFused();
  byId('reason-card').hidden = plan.partition.reason === '';
  byId('reason').textContent = plan.partition.reason;
  if (graphs.length > 1) {
    byId('graphs').append(...graphs.map((graph, index) => html('button', {
      type: 'button', 'data-graph': index, click: () => showGraph(graph) }, graph.name)));
  }
  if (shown !== undefined) showGraph(shown);
  drawSized();
  byId('liveness-by').addEventListener('change', () => drawLiveness(shown, byId('liveness-chart')));
  let frame = 0;
  addEventListener('resize', () => {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(drawSized);
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', drawSized);
}

drawPage();
