// Head of the page and predicted performance.

function drawHead() {
  const { target, partition, memory } = plan;
  byId('title').textContent = graphs.map((graph) => graph.name).join(' + ');
  document.title = 'IPU plan: ' + byId('title').textContent;
  byId('subtitle').textContent =
    `${target.ipus} \u00d7 ${target.ipu_version} (${target.platform.name}, ${fixed(clock / 1e6, 0)}` +
    ` MHz), ${whole(target.tiles_per_ipu)} tiles of ${bytes(tileBytes)} each: ` +
    (partition.io_tiles > 0
      ? `${whole(partition.compute_tiles)} compute, ${whole(partition.io_tiles)} for input and output`
      : 'all of them compute');
  const fits = memory.out_of_memory_tiles === 0;
  byId('verdict').classList.toggle('bad', !fits);
  byId('verdict').textContent = fits
    ? `Fits: the fullest tile uses ${bytes(memory.fullest_tile_bytes)} of ${bytes(tileBytes)} ` +
      `(${percent(memory.fullest_tile_bytes, tileBytes)})`
    : `Does not fit: ${whole(memory.out_of_memory_tiles)} tile(s) out of memory, the fullest needs ` +
      `${bytes(memory.fullest_tile_bytes)} of ${bytes(tileBytes)}`;
}

/** `meter` is a share from 0 on, or null. */
function stat(label, value, unit, detail, meter = null) {
  const box = html('div', { class: 'stat' },
    html('div', { class: 'label' }, label),
    html('div', { class: 'value' }, value, ' ', html('small', {}, unit)));
  if (meter !== null) box.append(bar('meter' + (meter > 1 ? ' bad' : ''), meter, 1));
  box.lastChild.style.display = meter !== null ? 'block' : '';
  box.append(html('div', { class: 'detail' }, detail));
  return box;
}

function drawStats(graph) {
  const { performance, samples } = graph;
  const host = performance.host_load_seconds + performance.host_store_seconds;
  const overlapped = plan.partition.overlaps;
  const gain = performance.serial_seconds / performance.overlap_seconds;
  const serial = performance.serial_seconds > 0 ? samples / performance.serial_seconds : 0;
  const rate = secondsOf(graph.device_cycles) > 0
    ? graph.flops / secondsOf(graph.device_cycles) / 1e12 : 0;
  const [latency, latencyUnit] = seconds(performance.latency_seconds).split(' ');
  const [hostTime, hostUnit] = seconds(host).split(' ');
  byId('tiles').replaceChildren(
    stat('Throughput', fixed(performance.throughput, performance.throughput < 100 ? 1 : 0),
         'samples/s', `batches of ${whole(samples)}, ${whole(plan.options.batches_per_step)} a step`),
    stat('Latency', latency, latencyUnit, 'from request to answer'),
    stat('Device cycles', whole(graph.device_cycles), 'per batch',
         `${seconds(secondsOf(graph.device_cycles))} on the tiles, ${fixed(rate, 1)} TFLOP/s`),
    stat('Overlap', overlapped ? fixed(gain, 2) + '\u00d7' : 'none', '',
         overlapped ? `${fixed(serial, 0)} samples/s without I/O tiles working beside`
                    : 'host and tiles wait for each other'),
    stat('Host traffic', bytes(graph.input_bytes + graph.output_bytes), 'per batch',
         `${bytes(graph.input_bytes)} in, ${bytes(graph.output_bytes)} out`),
    stat('Host time', hostTime, hostUnit,
         host > secondsOf(graph.device_cycles) ? 'longer than computing: the host is the limit'
                                               : 'per batch, shorter than computing'),
    stat('Fullest tile', percent(plan.memory.fullest_tile_bytes, tileBytes), '',
         `${bytes(plan.memory.fullest_tile_bytes)} on tile ${whole(plan.memory.fullest_tile)}`,
         plan.memory.fullest_tile_bytes / tileBytes),
    stat('Memory', bytes(plan.memory.bytes), '', `${bytes(plan.memory.mean_tile_bytes)} on the average tile`,
         plan.memory.bytes / (tileBytes * Math.max(1, tileTotals.length))));
}

function drawPerformance(graph) {
  drawStats(graph);
  drawStack(byId('phases'),
            graph.phases.filter((phase) => !phase.phase.startsWith('host'))
              .map((phase) => ({ name: phase.phase, figure: phase.cycles,
                                 colour: PHASE_COLOURS[phase.phase] })),
            (cycles) => whole(cycles) + ' cycles');
  byId('notes-card').hidden = graph.notes.length === 0;
  byId('notes').replaceChildren(...graph.notes.map((note) => html('li', {}, note)));
}
