// How figures are written.

function fixed(value, digits) {
  return value.toLocaleString('en-US',
                              { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

const whole = (value) => Math.round(value).toLocaleString('en-US');
const percent = (part, all) => fixed(all > 0 ? 100 * part / all : 0, 1) + '%';

/** Three digits that matter, with the unit whose factor fits. */
function scaled(value, base, units) {
  let unit = 0;
  while (Math.abs(value) >= base && unit + 1 < units.length) {
    value /= base;
    ++unit;
  }
  const digits = unit === 0 && Number.isInteger(value) ? 0 : value < 10 ? 2 : value < 100 ? 1 : 0;
  return fixed(value, digits) + ' ' + units[unit];
}

const bytes = (value) => scaled(value, 1024, ['B', 'KB', 'MB', 'GB']);
const flops = (value) => scaled(value, 1000, ['', 'K', 'M', 'G', 'T']) + 'FLOP';
const seconds = (value) => scaled(value * 1e9, 1000, ['ns', '\u00b5s', 'ms', 's']);
const secondsOf = (cycles) => clock > 0 ? cycles / clock : 0;
const sum = (list, figure) => list.reduce((total, element) => total + figure(element), 0);
