// Elements of the page, made so that text stays text.

function build(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name, value);
    else if (value !== false && value !== null) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

const html = (name, attributes = {}, ...children) =>
  build(document.createElement(name), attributes, children);

const svg = (name, attributes = {}, ...children) =>
  build(document.createElementNS('http://www.w3.org/2000/svg', name), attributes, children);

/** A colour of the style sheet, for canvases. */
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue('--' + name);

/** An element filled with a colour of the style sheet, which follows the colour scheme. */
function filled(name, className, width) {
  const element = html('i', { class: className });
  element.style.background = `var(--${name})`;
  if (width !== undefined) element.style.width = width;
  return element;
}

function bar(className, part, all) {
  const inner = html('i');
  inner.style.width = Math.min(100, all > 0 ? 100 * part / all : 0) + '%';
  return html('span', { class: className }, inner);
}

const tip = byId('tip');

/** Shows a title and [label, figure] pairs beside the pointer. */
function showTip(event, title, pairs) {
  tip.replaceChildren(
    html('b', {}, title),
    ...pairs.map(([label, figure]) =>
      html('div', { class: 'row' }, html('span', {}, label),
                                    html('span', { class: 'figure' }, figure))));
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const left = event.clientX + 16 + box.width > innerWidth ? event.clientX - box.width - 12
                                                           : event.clientX + 16;
  const top = event.clientY + 16 + box.height > innerHeight ? event.clientY - box.height - 12
                                                            : event.clientY + 16;
  tip.style.left = Math.max(8, left) + 'px';
  tip.style.top = Math.max(8, top) + 'px';
}

const hideTip = () => { tip.hidden = true; };
addEventListener('scroll', hideTip, { passive: true });

/** `show` gets the event and says whether there is something to show. */
function onHover(element, show) {
  element.addEventListener('pointermove', (event) => { if (!show(event)) hideTip(); });
  element.addEventListener('pointerleave', hideTip);
}

/** `parts` are {name, figure, colour}; `format` writes a figure. */
function drawStack(place, parts, format) {
  const all = sum(parts, (part) => part.figure);
  const shown = parts.filter((part) => part.figure > 0);
  const stack = html('div', { class: 'stack' });
  for (const part of shown) {
    const piece = filled(part.colour, '', 100 * part.figure / all + '%');
    onHover(piece, (event) => {
      showTip(event, part.name, [[format(part.figure), percent(part.figure, all)]]);
      return true;
    });
    stack.append(piece);
  }
  const list = shown.map((part) => html('div', { class: 'part' },
    filled(part.colour, 'swatch'),
    html('span', { class: 'name' }, part.name),
    html('span', { class: 'figure' }, format(part.figure)),
    html('span', { class: 'share' }, percent(part.figure, all))));
  place.replaceChildren(stack, html('div', { class: 'parts' }, ...list));
}

function legend(place, entries) {
  place.replaceChildren(...entries.map(
    ([name, colourName]) => html('span', {}, filled(colourName, 'swatch'), name)));
}
