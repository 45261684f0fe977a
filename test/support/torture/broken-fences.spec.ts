import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { BROKEN_FENCES, breakFence } from './broken-fences.js';

const root = resolve(import.meta.dirname, '../../..');

describe('a broken fence of the torture test', () => {
  it.each(Object.entries(BROKEN_FENCES))('changes the library so that %s', async (name, { find }) => {
    for (const file of Object.keys(find)) {
      const text = await readFile(join(root, file), 'utf8');

      expect(breakFence(file, text, name)).not.toBe(text);
    }
  });
});
