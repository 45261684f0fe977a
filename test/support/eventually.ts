import { setTimeout } from 'node:timers/promises';

const BETWEEN_LOOKS_MS = 5;

/** Looks again and again until the answer is one, and hands it over. Jest's limit ends what never comes. */
export async function eventually<T>(look: () => Promise<T | false | undefined | null> | T | false | undefined | null) {
  for (;;) {
    const answer = await look();
    if (answer) return answer;
    await setTimeout(BETWEEN_LOOKS_MS);
  }
}
