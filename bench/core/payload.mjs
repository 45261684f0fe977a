const WORDS =
  'order invoice shipment customer address payment receipt reminder welcome report export import total amount currency ' +
  'street city country quantity article delivered pending confirmed returned because before without between another';

/**
 * The payload of a job: its index, by which it is counted, and text up to the size. The text is words instead of one
 * repeated letter, because some databases compress their rows.
 */
export function payloadOf(index, bytes) {
  const payload = { index, text: '' };
  payload.text = textOf(Math.max(0, bytes - JSON.stringify(payload).length));
  return payload;
}

const texts = new Map();

function textOf(length) {
  if (!texts.has(length)) texts.set(length, makeText(length));
  return texts.get(length);
}

function makeText(length) {
  const words = WORDS.split(' ');
  let text = '';
  for (let seed = 1; text.length < length; seed = (seed * 48_271) % 2_147_483_647) {
    text += `${words[seed % words.length]} ${seed % 1_000} `;
  }
  return text.slice(0, length);
}
