// What the graphs of a fused program share.

function drawFused() {
  const fused = graphs.length > 1;
  byId('fused').hidden = byId('fused-link').hidden = !fused;
  if (!fused) return;
  const { memory } = plan;
  const cycles = sum(graphs, (graph) => graph.device_cycles);
  const cell = (text, part, all) => html('div', {}, text, bar('share-bar', part, all));
  const rows = graphs.flatMap((graph) => [
    html('div', { class: 'graph' }, graph.name),
    cell(`${bytes(graph.memory_bytes)} alone`, graph.memory_bytes, memory.bytes),
    cell(`${whole(graph.device_cycles)} cycles, ${percent(graph.device_cycles, cycles)}`,
         graph.device_cycles, cycles)]);
  for (const shareBar of rows.flatMap((row) => [...row.querySelectorAll('.share-bar')])) {
    shareBar.style.display = 'block';
  }
  const saved = [['weights', memory.shared_weight_bytes],
                 ['activations', memory.shared_activation_bytes],
                 ['code', memory.shared_code_bytes]];
  const alone = sum(graphs, (graph) => graph.memory_bytes);
  byId('fused-card').replaceChildren(
    html('div', { class: 'shares' }, html('span', { class: 'head' }, 'Graph'),
         html('span', { class: 'head' }, `Memory, of ${bytes(memory.bytes)} in all`),
         html('span', { class: 'head' }, 'Cycles of one batch of each'), ...rows),
    html('p', { class: 'saved' },
         `Alone, the graphs would take ${bytes(alone)}. Sharing saves ` +
         `${bytes(sum(saved, ([, part]) => part))}: ` +
         saved.map(([name, part]) => `${name} ${bytes(part)}`).join(', ') + '. ' +
         'Graphs run one at a time, so activations of one use the memory of the others.'));
}
