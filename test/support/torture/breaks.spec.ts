import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { BREAKS, broken } from './breaks.js';

const root = resolve(import.meta.dirname, '../../..');

describe('a broken fence of the torture', () => {
  it.each(Object.entries(BREAKS))('changes the library so that %s', async (name, { find }) => {
    for (const file of Object.keys(find)) {
      const text = await readFile(join(root, file), 'utf8');

      expect(broken(file, text, name)).not.toBe(text);
    }
  });
});
