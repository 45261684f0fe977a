import { jobId, type Command } from '../command.js';

export const explain: Command = {
  usage: '<id>',
  args: [1, 1],
  async run({ engine, args: [id], output }) {
    const explanation = await engine.admin.explain(jobId(id!));
    const { queue, name, state, reasons } = explanation;
    const named = name === 'default' ? '' : ` (${name})`;
    output.result(explanation, () =>
      [`Job ${id} of ${queue}${named} is ${state}.`, ...reasons.map(({ text }) => `- ${text}`)].join('\n'),
    );
  },
};
