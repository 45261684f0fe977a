import type { ComponentChildren } from 'preact';
import type { Reading } from '../live/use-read.js';
import { useFirstRows } from './first-rows.js';
import { Card, Loaded } from './layout.js';
import { Table, type TableLayout } from './table.js';

interface ListProps<Answer, Row> {
  readonly table: TableLayout<Row>;
  /** A long list shows its first rows, and a button for all of them. */
  readonly first?: readonly [noun: string, most?: number];
  rowsOf(answer: Answer): readonly Row[];
  /** In place of the table if there are no rows. */
  empty(answer: Answer): ComponentChildren;
  footer?(answer: Answer): ComponentChildren;
}

interface Props<Answer, Row> extends ListProps<Answer, Row> {
  readonly of: Pick<Reading<Answer>, 'data' | 'error' | 'reload'>;
  readonly title?: ComponentChildren;
  readonly aside?: ComponentChildren;
  /** The grey bars before the answer. */
  readonly skeleton?: number;
}

/** A card with a list of the server as a table. */
export function ListCard<Answer, Row>({ of, title, aside, skeleton = 5, ...list }: Props<Answer, Row>) {
  return (
    <Card isFlush title={title} aside={aside}>
      <Loaded of={of} rows={skeleton}>
        {(answer) => <List answer={answer} {...list} />}
      </Loaded>
    </Card>
  );
}

function List<Answer, Row>(props: ListProps<Answer, Row> & { readonly answer: Answer }) {
  const { answer, table, first, rowsOf, empty, footer } = props;
  const [noun, most] = first ?? ['', Infinity];
  const { rows, footer: more } = useFirstRows(rowsOf(answer), noun, most);
  return (
    <>
      {rows.length === 0 ? empty(answer) : <Table {...table} rows={rows} />}
      {more}
      {footer?.(answer)}
    </>
  );
}
