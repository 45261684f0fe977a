import { useEffect, useRef } from 'preact/hooks';
import { read } from '../../api.js';
import type { Diagnosis } from '../../answers.js';
import { diagnoses } from '../../live/live.js';
import type { Params } from '../../live/route.js';
import { useRead } from '../../live/use-read.js';
import { Icon, type IconName } from '../../parts/icons.js';
import { Card, Loaded } from '../../parts/layout.js';

const URGENCY = ['problem', 'note', 'unknown', 'ok'] as const satisfies readonly Diagnosis['level'][];
const ICONS: Readonly<Record<Diagnosis['level'], IconName>> = {
  problem: 'attention',
  note: 'idle',
  unknown: 'idle',
  ok: 'ok',
};
const WORDS = { problem: 'problem', note: 'note', unknown: 'not known', ok: 'fine' } as const;

/** The findings of the doctor that the server may read. They change with the database, so that no update reads them. */
export function DatabaseChecks() {
  const again = useRef<Params>({});
  const found = useRead('diagnoses', () => read<{ diagnoses: Diagnosis[] }>('diagnoses', again.current), Infinity);
  const answer = found.data?.diagnoses;
  useEffect(() => {
    if (answer) diagnoses.value = answer;
  }, [answer]);
  const onAgain = () => {
    again.current = { again: 'true' };
    found.reload();
  };
  return (
    <Card
      class="checks-card"
      title="Checks of the database"
      aside={
        <button type="button" onClick={onAgain}>
          Check again
        </button>
      }
    >
      <Loaded of={found} rows={4}>
        {(data) => <Findings all={data.diagnoses} />}
      </Loaded>
    </Card>
  );
}

function Findings({ all }: { all: readonly Diagnosis[] }) {
  const rows = URGENCY.flatMap((level) => all.filter((one) => one.level === level));
  return (
    <ul class="checks">
      {rows.map((one) => (
        <li key={`${one.check} ${one.facts}`}>
          <span class={`state s-${ICONS[one.level]}`}>
            <Icon name={ICONS[one.level]} size={15} />
            {WORDS[one.level]}
          </span>
          <b>{one.check}</b>
          <span>{one.facts}</span>
          {one.wayOut !== null && <pre>{one.wayOut}</pre>}
        </li>
      ))}
    </ul>
  );
}
