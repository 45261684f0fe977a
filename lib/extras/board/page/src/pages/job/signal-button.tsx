import type { Job } from '../../answers.js';
import { plural } from '../../format.js';
import { rightsFor } from '../../live/rights.js';
import { ActionButton } from '../../parts/action.js';
import { parsedJson } from '../../parts/parsed-json.js';

interface Props {
  readonly job: Pick<Job, 'id' | 'queue'>;
  readonly name: string;
  /** Null if the wait began before an update of the tables: then only the application knows the key. */
  readonly signalKey: string | null;
}

/** Sends the signal that the job waits for. */
export function SignalButton({ job: { id, queue }, name, signalKey }: Props) {
  if (signalKey === null) return null;
  return (
    <ActionButton
      verbs={rightsFor(queue).verbs}
      icon="signal"
      isPrimary
      action={{
        verb: 'signal',
        text: 'Send signal',
        label: `Send signal ${name}`,
        confirm: `Send the signal "${name}" with the key "${signalKey}"?`,
        content: <p class="soft">All jobs that wait for this signal with this key get it.</p>,
        fields: [{ name: 'data', label: 'Data as JSON', type: 'textarea', hint: 'Empty: a signal without data.' }],
        body: ({ data = '' }) => ({ id, name, ...(data !== '' && { data: parsedJson(data, 'data', 'The data are') }) }),
        done: ({ changed = 0 }) => `The signal ${name} has woken ${plural(changed, 'job')}.`,
      }}
    />
  );
}
