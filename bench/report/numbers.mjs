// The formats of numbers.

export function whole(number) {
  return Math.round(number).toLocaleString('en-US');
}

/** One decimal, or two below 10. */
export function fine(number) {
  return number.toFixed(number < 10 ? 2 : 1);
}

export function times(number) {
  return `${number.toFixed(2)}×`;
}
