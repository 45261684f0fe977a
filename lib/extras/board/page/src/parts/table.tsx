import type { ComponentChildren } from 'preact';

export interface Column<Row> {
  readonly title: string;
  cell(row: Row, index: number): ComponentChildren;
  readonly isNumber?: boolean;
  readonly class?: string;
  /**
   * The head shows something else than the title. A function, because columns live as long as the page: Preact links an
   * element that is drawn again to its first parents, and these to all later updates.
   */
  head?(): ComponentChildren;
  /** On a narrow screen the cell stands without its title. */
  readonly isUnlabelled?: boolean;
}

/** A table without its rows. */
export interface TableLayout<Row> {
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  keyOf(row: Row): string | number;
  readonly class?: string;
  /** The row that the keys j and k have reached. */
  readonly at?: number;
  rowClass?(row: Row): string;
}

interface Props<Row> extends TableLayout<Row> {
  readonly rows: readonly Row[];
}

/** A table that becomes a list of cards on a narrow screen. The roles keep its meaning there. */
export function Table<Row>({ caption, rows, columns, keyOf, class: name = '', at = -1, rowClass }: Props<Row>) {
  return (
    <div class="scroll">
      <table class={`grid ${name}`} role="table">
        <caption class="hidden">{caption}</caption>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map(({ title, head, isNumber, class: own = '' }) => (
              <th key={title} scope="col" role="columnheader" class={`${own} ${isNumber ? 'n' : ''}`}>
                {head?.() ?? title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((row, index) => (
            <tr key={keyOf(row)} role="row" class={`${index === at ? 'at' : ''} ${rowClass?.(row) ?? ''}`}>
              {columns.map((column) => (
                <td
                  key={column.title}
                  role="cell"
                  data-label={column.isUnlabelled ? undefined : column.title}
                  class={`${column.class ?? ''} ${column.isNumber ? 'n' : ''}`}
                >
                  {column.cell(row, index)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The column of the buttons of each row. */
export function actionsColumn<Row>(cell: (row: Row) => ComponentChildren): Column<Row> {
  return {
    title: 'Actions',
    head: () => <span class="hidden">Actions</span>,
    class: 'row-actions',
    isUnlabelled: true,
    cell: (row) => <span class="buttons">{cell(row)}</span>,
  };
}
