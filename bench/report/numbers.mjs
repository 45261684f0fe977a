// How numbers are written.

export function whole(number) {
  return Math.round(number).toLocaleString('en-US');
}

/** Two digits behind the point where they say something. */
export function fine(number) {
  return number.toFixed(number < 10 ? 2 : 1);
}

export function times(number) {
  return `${number.toFixed(2)}×`;
}
