import { ask } from '../parts/dialog.js';

const KEYS = [
  ['Ctrl K', 'find a page, a queue, a job or an action'],
  ['/', 'go to the filter of the page, or find'],
  ['g, then a letter', 'Overview, Jobs, Errors, Flows, Schedules, Workers, People, Topics, Audit'],
  ['j and k', 'next and previous row'],
  ['Enter', 'open the row'],
  ['x', 'select the row'],
  ['r', 'retry the job that is open'],
  ['?', 'this list'],
] as const;

export function showHelp(): void {
  const content = (
    <dl class="facts keys">
      {KEYS.map(([keys, meaning]) => (
        <div key={keys}>
          <dt>
            <kbd>{keys}</kbd>
          </dt>
          <dd>{meaning}</dd>
        </div>
      ))}
    </dl>
  );
  ask({ title: 'Keyboard shortcuts', content, submit: 'Close', isNotice: true });
}
