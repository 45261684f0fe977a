import { contentOf, formFor } from '../../lib/extras/board/page-files.js';

describe('a file of the page', () => {
  it('is compressed once for all clients, and anew after a failure', async () => {
    const form = formFor('br');
    const compressed = new Map<'br' | 'gzip', Promise<Buffer>>();

    await expect(contentOf({ type: '', text: 1 as never, compressed }, form)).rejects.toThrow(TypeError);
    const file = { type: '', text: 'a', compressed };
    const first = await contentOf(file, form);
    const second = await contentOf(file, form);

    expect(first).toBeInstanceOf(Buffer);
    expect(second).toBe(first);
  });
});
