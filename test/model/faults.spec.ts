import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

interface Fault {
  readonly fault: string;
  readonly changes: readonly (readonly [file: string, text: string, replacement: string])[];
}

const root = resolve(import.meta.dirname, '../..');
const faults = JSON.parse(readFileSync(join(import.meta.dirname, 'faults.json'), 'utf8')) as Fault[];

describe('a fault that random histories must find', () => {
  it.each(faults)('changes the library so that $fault', ({ changes }) => {
    for (const [file, text] of changes) expect(readFileSync(join(root, file), 'utf8')).toContain(text);
  });
});
