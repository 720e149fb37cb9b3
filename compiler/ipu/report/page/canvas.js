// What canvases have in common.

/** A canvas as wide as its place and `height` high, sharp on every screen. */
function context(canvas, height) {
  const width = canvas.clientWidth;
  const ratio = devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.height = height + 'px';
  const drawing = canvas.getContext('2d');
  drawing.scale(ratio, ratio);
  return [drawing, width];
}

/** A round number near `span / parts`, for the marks of an axis. */
function roundStep(span, parts) {
  const raw = span / parts;
  const power = 10 ** Math.floor(Math.log10(raw));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= raw);
}
