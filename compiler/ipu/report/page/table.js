// Tables that sort.

const FIRST_ROWS = 25;

/** A table that sorts by the column clicked; `columns` are {title, figure, text, className}. */
class SortableTable {
  constructor(table, columns, sortedBy) {
    this.table = table;
    this.columns = columns;
    this.sortedBy = sortedBy;
    this.descending = true;
    this.limit = FIRST_ROWS;
    this.more = html('button', { type: 'button', class: 'more', click: () => {
      this.limit = Infinity;
      this.draw();
    } });
    table.after(this.more);
  }

  show(rows) {
    this.rows = rows;
    this.draw();
  }

  sortBy(column) {
    this.descending = this.sortedBy === column ? !this.descending : !column.className;
    this.sortedBy = column;
    this.draw();
  }

  draw() {
    const { figure } = this.sortedBy;
    const order = this.descending ? -1 : 1;
    const sorted = [...this.rows].sort((a, b) => {
      const [x, y] = [figure(a), figure(b)];
      return order * (x < y ? -1 : x > y ? 1 : 0);
    });
    const head = this.columns.map((column) => html('th', {
      class: column.className || '',
      'aria-sort': column !== this.sortedBy ? 'none' : this.descending ? 'descending' : 'ascending',
    }, html('button', { type: 'button', click: () => this.sortBy(column) }, column.title)));
    const body = sorted.slice(0, this.limit).map((row) => html('tr', {},
      ...this.columns.map((column) => html('td', {
        class: column.className || '',
        title: column.className ? String(figureText(column, row)) : null,
      }, column.cell ? column.cell(row) : figureText(column, row)))));
    this.table.replaceChildren(html('thead', {}, html('tr', {}, ...head)),
                               html('tbody', {}, ...body));
    this.more.hidden = sorted.length <= this.limit;
    this.more.textContent = `Show all ${whole(sorted.length)}`;
  }
}

const figureText = (column, row) =>
  column.text ? column.text(column.figure(row), row) : column.figure(row);

/** A share of `all` with a bar whose full length is `most`. */
function shareCell(part, all, most) {
  return html('span', {}, percent(part, all), bar('inline-bar', part, most));
}

const most = (rows, figure) => rows.reduce((largest, row) => Math.max(largest, figure(row)), 0);
