import { transform } from '@swc/core';
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { compileFunction } from 'node:vm';
import { readEnvelope, toEnvelope, type PayloadCodec } from '../../lib/job/codec/payload-codec.js';
import { describeEngines } from '../support/engines.js';

type KeyService = Record<'encrypt' | 'decrypt', (text: string) => Promise<string>>;

/** As with a key service, each encryption of a text differs. */
const kms: KeyService = {
  encrypt: async (text) => `${randomBytes(8).toString('hex')}${Buffer.from(text).toString('base64')}`,
  decrypt: async (content) => Buffer.from(content.slice(16), 'base64').toString(),
};

describeEngines('the codec of your own in docs/payloads.md', (setup) => {
  it('reads its content back, and `rekey` encodes each content once', async () => {
    const world = await setup();
    const { kmsCodec } = await exampleModule();
    const plain = await world.start({ autoStart: false });
    await plain.producer.enqueueMany('q', [{ payload: 1 }, { payload: 2 }]);
    const { producer, admin, runner, events } = await world.start({
      codec: kmsCodec(kms),
      handlers: { q: ({ payload }) => payload },
      autoStart: false,
    });
    await producer.enqueue('q', 3);

    const first = await admin.rekey();
    const second = await admin.rekey();
    await runner.start();
    const completed = await events.untilCount(3, 'completed');

    expect(first).toEqual({ rekeyed: 2, active: 0, undecodable: 0 });
    expect(second).toEqual({ rekeyed: 0, active: 0, undecodable: 0 });
    expect(new Set(completed.map(({ result }) => result))).toEqual(new Set([1, 2, 3]));
  });
});

/** Runs the text of the documentation, so that it cannot differ from the tested code. */
async function exampleModule() {
  const page = await readFile(join(import.meta.dirname, '../../docs/payloads.md'), 'utf8');
  const example = [...page.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].find(([, code]) => code!.includes('kmsCodec('))![1]!;
  const { code } = await transform(example, {
    swcrc: false,
    configFile: false,
    jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
    module: { type: 'commonjs' },
  });
  const exports = {};
  compileFunction(code, ['require', 'exports'])(() => ({ readEnvelope, toEnvelope }), exports);
  return exports as { kmsCodec(service: KeyService): PayloadCodec };
}
