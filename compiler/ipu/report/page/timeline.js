// Who is busy when: a canvas to zoom and move.

const TRACK_HEIGHT = 46;
const TRACK_GAP = 12;
const AXIS_HEIGHT = 26;

/** What the tiles do within the computing of a batch: steps with their share of its time. */
function computeSteps(graph) {
  const steps = [];
  let cycles = 0;
  for (const operator of graph.operators) {
    for (const step of operator.steps) {
      if (STREAM_PHASES.includes(step.phase)) continue;
      const begin = cycles;
      cycles += step.cycles * step.repeats;
      steps.push({ operator, step, begin, end: cycles });
    }
  }
  return { steps, cycles };
}

class Timeline {
  constructor(canvas) {
    this.canvas = canvas;
    canvas.addEventListener('pointerdown', (event) => this.grab(event));
    onHover(canvas, (event) => this.hover(event));
    byId('zoom-in').addEventListener('click', () => this.zoom(0.5));
    byId('zoom-out').addEventListener('click', () => this.zoom(2));
    byId('zoom-reset').addEventListener('click', () => this.show(this.graph));
  }

  show(graph) {
    this.graph = graph;
    this.compute = computeSteps(graph);
    this.tracks = ['host', 'I/O tiles', 'compute tiles'].filter(
      (track) => graph.timeline.some((span) => span.track === track));
    this.length = Math.max(1, ...graph.timeline.map((span) => span.end_nanoseconds));
    this.begin = 0;
    this.end = this.length;
    this.draw();
  }

  zoom(factor) {
    const middle = (this.begin + this.end) / 2;
    const span = Math.min(this.length, Math.max(50, (this.end - this.begin) * factor));
    this.begin = Math.min(Math.max(0, middle - span / 2), this.length - span);
    this.end = this.begin + span;
    this.draw();
  }

  grab(start) {
    const { begin, end } = this;
    const move = (event) => {
      const shift = (start.clientX - event.clientX) / this.width * (end - begin);
      this.begin = Math.min(Math.max(0, begin + shift), this.length - (end - begin));
      this.end = this.begin + (end - begin);
      this.draw();
    };
    const stop = () => {
      removeEventListener('pointermove', move);
      removeEventListener('pointerup', stop);
    };
    addEventListener('pointermove', move);
    addEventListener('pointerup', stop);
  }

  x(time) { return (time - this.begin) / (this.end - this.begin) * this.width; }

  draw() {
    const height = AXIS_HEIGHT + this.tracks.length * (TRACK_HEIGHT + TRACK_GAP + 16);
    [this.drawing, this.width] = context(this.canvas, height);
    this.colours = Object.fromEntries(
      Object.entries(PHASE_COLOURS).map(([phase, name]) => [phase, colour(name)]));
    this.drawing.font = '12px system-ui, "Liberation Sans", sans-serif';
    this.drawAxis(height);
    this.tracks.forEach((track, row) => {
      const top = this.top(row);
      this.drawing.fillStyle = colour('muted');
      this.drawing.fillText(track, 0, top - 5);
      for (const span of this.graph.timeline) {
        if (span.track === track) this.drawSpan(span, top);
      }
    });
  }

  top(row) { return AXIS_HEIGHT + 16 + row * (TRACK_HEIGHT + TRACK_GAP + 16); }

  drawAxis(height) {
    const { drawing } = this;
    const step = roundStep(this.end - this.begin, Math.max(2, this.width / 130));
    for (let time = Math.ceil(this.begin / step) * step; time < this.end; time += step) {
      const x = Math.round(this.x(time)) + 0.5;
      drawing.strokeStyle = colour('line');
      drawing.beginPath();
      drawing.moveTo(x, 16);
      drawing.lineTo(x, height);
      drawing.stroke();
      drawing.fillStyle = colour('muted');
      const label = seconds(time * 1e-9);
      const width = drawing.measureText(label).width;
      drawing.fillText(label, Math.max(0, Math.min(x - width / 2, this.width - width)), 11);
    }
  }

  drawSpan(span, top) {
    const left = this.x(span.begin_nanoseconds);
    const right = this.x(span.end_nanoseconds);
    if (right < 0 || left > this.width) return;
    if (span.activity === 'compute') {
      this.drawSteps(span, top);
    } else {
      this.drawing.fillStyle = colour(ACTIVITY_COLOURS[span.activity]);
      this.drawing.fillRect(left, top, Math.max(1, right - left - 1), TRACK_HEIGHT);
    }
    this.drawLabel(`${span.activity} ${span.batch}`, left, right, top, span.activity === 'compute');
  }

  /** Steps of computing are what the span is filled with; the others are drawn on it, so that those
      thinner than a pixel tint it. */
  drawSteps(span, top) {
    const { drawing, compute } = this;
    const scale = (span.end_nanoseconds - span.begin_nanoseconds) / Math.max(1, compute.cycles);
    const fill = (from, to, phase) => {
      const [left, right] = [this.x(from), this.x(to)].map(
        (x) => Math.min(Math.max(x, -1), this.width + 1));
      drawing.fillStyle = this.colours[phase];
      if (right > left) drawing.fillRect(left, top, right - left, TRACK_HEIGHT);
    };
    fill(span.begin_nanoseconds, span.end_nanoseconds, 'compute');
    for (const { step, begin, end } of compute.steps) {
      if (step.phase === 'compute') continue;
      fill(span.begin_nanoseconds + begin * scale, span.begin_nanoseconds + end * scale, step.phase);
    }
  }

  drawLabel(text, left, right, top, framed) {
    const { drawing } = this;
    const from = Math.max(left, 0) + 6;
    const width = drawing.measureText(text).width;
    if (Math.min(right, this.width) - from < width + 6) return;
    if (framed) {
      drawing.fillStyle = colour('card');
      drawing.fillRect(from - 3, top + 5, width + 6, 17);
      drawing.fillStyle = colour('ink');
    } else {
      drawing.fillStyle = '#fff';
    }
    drawing.fillText(text, from, top + 18);
  }

  hover(event) {
    const box = this.canvas.getBoundingClientRect();
    const time = this.begin + (event.clientX - box.left) / this.width * (this.end - this.begin);
    const y = event.clientY - box.top;
    const row = this.tracks.findIndex(
      (_, i) => y >= this.top(i) && y < this.top(i) + TRACK_HEIGHT);
    const span = this.graph.timeline.find((candidate) =>
      candidate.track === this.tracks[row] && candidate.begin_nanoseconds <= time &&
      time < candidate.end_nanoseconds);
    if (span === undefined) return false;
    const length = span.end_nanoseconds - span.begin_nanoseconds;
    if (span.activity !== 'compute') {
      showTip(event, `${span.activity}, batch ${span.batch}`, [[span.track, seconds(length * 1e-9)]]);
      return true;
    }
    const cycles = (time - span.begin_nanoseconds) / length * this.compute.cycles;
    const found = this.compute.steps.find(({ begin, end }) => begin <= cycles && cycles < end);
    if (found === undefined) return false;
    showTip(event, found.operator.name || found.operator.op, [
      [found.operator.op, whole(found.operator.cycles) + ' cycles'],
      [`${found.step.phase}: ${found.step.name}`, whole(found.end - found.begin) + ' cycles'],
      ['batch', String(span.batch)],
    ]);
    return true;
  }
}

function describeTimeline() {
  byId('timeline-text').textContent = plan.partition.overlaps
    ? 'Three batches one after the other. While the compute tiles work on one, the I/O tiles store ' +
      'the batch before and load the next; both sides meet to hand data over.'
    : 'One batch. The tiles wait while the host moves data. To overlap the two takes I/O tiles and ' +
      'at least three batches a step.';
  legend(byId('timeline-legend'), [
    ['compute', 'phase-compute'], ['exchange', 'phase-exchange'], ['copy', 'phase-copy'],
    ['load', 'phase-host'], ['store', 'phase-store'],
    ...(plan.partition.io_tiles > 0 ? [['between I/O and compute tiles', 'phase-io-copy']] : []),
  ]);
}
