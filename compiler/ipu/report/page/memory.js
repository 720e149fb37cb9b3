// Memory by category and by tile.

function drawCategories() {
  drawStack(byId('categories'),
            categories.map((row) => ({ name: CATEGORY_NAMES[row.category], figure: row.bytes,
                                       colour: 'memory-' + row.category })),
            bytes);
}

/** A colour of the ramp from low over middle to high, #rrggbb each; share from 0 to 1. */
function rampColour(share) {
  const parse = (name) => [1, 3, 5].map((at) => parseInt(colour(name).trim().slice(at, at + 2), 16));
  const [from, to] = share < 0.5 ? ['ramp-low', 'ramp-middle'] : ['ramp-middle', 'ramp-high'];
  const [low, high] = [parse(from), parse(to)];
  const between = share < 0.5 ? share * 2 : share * 2 - 1;
  return `rgb(${low.map((part, i) => Math.round(part + between * (high[i] - part))).join(' ')})`;
}

class TileMap {
  constructor(canvas, select) {
    this.canvas = canvas;
    this.select = select;
    select.append(html('option', { value: '' }, 'everything'),
                  ...categories.map((row) => html('option', { value: row.category },
                                                  CATEGORY_NAMES[row.category])));
    select.addEventListener('change', () => this.draw());
    onHover(canvas, (event) => this.hover(event));
  }

  draw() {
    const perIpu = plan.target.tiles_per_ipu;
    const ipus = Math.max(1, Math.ceil(tileTotals.length / perIpu));
    this.columns = this.canvas.clientWidth > 700 ? 64 : 32;
    this.rows = Math.ceil(perIpu / this.columns);
    this.cell = this.canvas.clientWidth / this.columns;
    const [drawing] = context(this.canvas, ipus * (this.rows * this.cell + 14));
    const figures = this.select.value === '' ? tileTotals : tileFigures[this.select.value];
    const scale = this.select.value === '' ? tileBytes : Math.max(1, ...figures);
    const shades = Array.from({ length: 65 }, (_, i) => rampColour(i / 64));
    tileTotals.forEach((total, tile) => {
      const [x, y] = this.place(tile);
      const overflows = this.select.value === '' && total > tileBytes;
      drawing.fillStyle = overflows ? colour('bad')
                                    : shades[Math.round(64 * Math.min(1, figures[tile] / scale))];
      drawing.fillRect(x, y, this.cell - 1.5, this.cell - 1.5);
      if (tile % perIpu < plan.partition.io_tiles) {
        drawing.strokeStyle = colour('phase-exchange');
        drawing.lineWidth = 1.5;
        drawing.strokeRect(x + 0.75, y + 0.75, this.cell - 3, this.cell - 3);
      }
    });
    this.drawLegend(scale);
  }

  place(tile) {
    const ipu = Math.floor(tile / plan.target.tiles_per_ipu);
    const own = tile % plan.target.tiles_per_ipu;
    return [(own % this.columns) * this.cell,
            ipu * (this.rows * this.cell + 14) + Math.floor(own / this.columns) * this.cell];
  }

  drawLegend(scale) {
    const keys = [html('span', {}, '0'), html('span', { class: 'gradient' }),
                  html('span', {}, bytes(scale))];
    if (plan.partition.io_tiles > 0) {
      const swatch = html('i', { class: 'swatch' });
      swatch.style.border = '2px solid var(--phase-exchange)';
      keys.push(html('span', { class: 'key' }, swatch, 'I/O tile'));
    }
    if (plan.memory.out_of_memory_tiles > 0 && this.select.value === '') {
      keys.push(html('span', { class: 'key' }, filled('bad', 'swatch'), 'out of memory'));
    }
    byId('map-legend').replaceChildren(...keys);
  }

  hover(event) {
    const box = this.canvas.getBoundingClientRect();
    const column = Math.floor((event.clientX - box.left) / this.cell);
    const ipuHeight = this.rows * this.cell + 14;
    const ipu = Math.floor((event.clientY - box.top) / ipuHeight);
    const row = Math.floor(((event.clientY - box.top) % ipuHeight) / this.cell);
    const own = row * this.columns + column;
    const tile = ipu * plan.target.tiles_per_ipu + own;
    if (column >= this.columns || own >= plan.target.tiles_per_ipu || tile >= tileTotals.length) {
      return false;
    }
    const kind = own < plan.partition.io_tiles ? 'I/O tile' : 'compute tile';
    showTip(event, `Tile ${whole(tile)} (${kind})`, [
      ['Total', `${bytes(tileTotals[tile])} (${percent(tileTotals[tile], tileBytes)})`],
      ...categories.filter((row) => tileFigures[row.category][tile] > 0)
        .map((row) => [CATEGORY_NAMES[row.category], bytes(tileFigures[row.category][tile])]),
      ...this.peak(tile),
    ]);
    return true;
  }

  peak(tile) {
    const operator = peakOperator(tile);
    return operator ? [['Fullest at', operator.name || operator.op]] : [];
  }
}

/** The operator during which a tile is fullest, if the plan says. */
function peakOperator(tile) {
  return graphs[tileFigures.peak_graph[tile]]?.operators[tileFigures.peak_operator[tile]];
}

const WORST_TILES = 5;

/** The fullest of the tiles that are out of memory. */
function drawOverflow() {
  const worst = tileTotals.map((total, tile) => ({ total, tile }))
    .filter(({ total }) => total > tileBytes)
    .sort((a, b) => b.total - a.total || a.tile - b.tile)
    .slice(0, WORST_TILES);
  byId('overflow-card').hidden = worst.length === 0;
  const head = ['Tile', 'Needs', 'Too much', 'Fullest at'];
  const body = worst.map(({ total, tile }) => {
    const operator = peakOperator(tile);
    return [whole(tile), bytes(total), bytes(total - tileBytes),
            operator ? operator.name || operator.op : ''];
  });
  const cells = (name, texts) => texts.map(
    (text, i) => html(name, { class: i === 3 ? 'text name' : '' }, text));
  byId('overflow').replaceChildren(
    html('thead', {}, html('tr', {}, ...cells('th', head))),
    html('tbody', {}, ...body.map((row) => html('tr', {}, ...cells('td', row)))));
}

/** Bars of how many tiles have how many bytes. */
function drawHistogram(place) {
  if (tileTotals.length === 0) return;
  const BINS = 40;
  const most = Math.max(tileBytes, ...tileTotals);
  const width = most / BINS;
  const counts = new Array(BINS).fill(0);
  for (const total of tileTotals) ++counts[Math.min(BINS - 1, Math.floor(total / width))];
  const [w, h, bottom] = [place.clientWidth, 200, 24];
  const top = Math.max(...counts);
  const x = (value) => value / most * w;
  const chart = svg('svg', { viewBox: `0 0 ${w} ${h}`, height: h, role: 'img',
                             'aria-label': 'Number of tiles by bytes used' });
  counts.forEach((count, bin) => {
    if (count === 0) return;
    const barHeight = Math.max(2, count / top * (h - bottom - 22));
    const piece = svg('rect', { x: x(bin * width) + 1, y: h - bottom - barHeight,
                                width: Math.max(1, w / BINS - 2), height: barHeight, rx: 2 });
    piece.style.fill = (bin + 0.5) * width > tileBytes ? 'var(--bad)' : 'var(--accent)';
    onHover(piece, (event) => {
      showTip(event, `${bytes(bin * width)} to ${bytes((bin + 1) * width)}`,
              [['tiles', whole(count)]]);
      return true;
    });
    chart.append(piece);
  });
  const step = 2 ** Math.ceil(Math.log2(most * 90 / w));
  for (let mark = 0; mark <= most; mark += step) {
    const anchor = mark === 0 ? 'start' : x(mark) > w - 30 ? 'end' : 'middle';
    chart.append(svg('text', { x: x(mark), y: h - 6, 'text-anchor': anchor }, bytes(mark)));
  }
  const limit = x(tileBytes);
  chart.append(svg('line', { class: 'axis', x1: 0, x2: w, y1: h - bottom, y2: h - bottom }),
               svg('line', { class: 'limit', x1: limit, x2: limit, y1: 14, y2: h - bottom }),
               svg('text', { x: limit, y: 10, 'text-anchor': 'end' },
                   `all a tile has: ${bytes(tileBytes)}`));
  place.replaceChildren(chart);
}
