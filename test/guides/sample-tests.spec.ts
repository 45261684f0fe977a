import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/testing.md'), 'utf8');
const samples = readdirSync(join(root, 'sample')).filter((name) => /^\d\d-/.test(name));

describe('the tests of the samples', () => {
  it.each([...samples, 'recipes'])('exist in %s', (sample) => {
    const names = readdirSync(join(root, 'sample', sample, 'test'));

    expect(names).toEqual([expect.stringMatching(/\.spec\.ts$/)]);
  });

  it('have the configuration that docs/testing.md shows', () => {
    const [, options] = /^```js\nexport default \{\n(.*?)^\};\n```$/ms.exec(page)!;

    expect(readFileSync(join(root, 'sample/jest.config.js'), 'utf8')).toContain(options);
  });

  it('include the parts that docs/testing.md shows', () => {
    const tests = samples.flatMap((sample) => {
      const folder = join(root, 'sample', sample, 'test');
      return readdirSync(folder).map((name) => withoutIndent(readFileSync(join(folder, name), 'utf8')));
    });
    const shown = [...page.matchAll(/^```ts\n(?!import )(.*?)^```$/gms)].map(([, code]) => withoutIndent(code!));

    expect(shown).toHaveLength(2);
    expect(shown.filter((code) => !tests.some((test) => test.includes(code)))).toEqual([]);
  });
});

function withoutIndent(code: string): string {
  return code.replaceAll(/^ +/gm, '');
}
