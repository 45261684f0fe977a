import { isTurnLong, nextTurn } from '../../lib/common/turn.js';

describe('isTurnLong()', () => {
  it('is true after a long time without a turn of the event loop, until the next turn', async () => {
    await nextTurn();
    const answers = [isTurnLong()];
    while (!isTurnLong());
    answers.push(isTurnLong());
    await nextTurn();
    answers.push(isTurnLong());

    expect(answers).toEqual([false, true, false]);
  });

  it('counts all loops of the process together, and each of them goes on in every turn', async () => {
    const passes = [0, 0];
    const loop = async (index: number) => {
      while (passes[index]! < 5) {
        while (!isTurnLong());
        passes[index]!++;
        await nextTurn();
      }
    };

    await Promise.all([loop(0), loop(1)]);

    expect(passes).toEqual([5, 5]);
  });
});
