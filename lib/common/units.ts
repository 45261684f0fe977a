/** A whole number of the smallest unit, from a number or a text such as `'1.5h'`; undefined for any other value. */
export function toUnits(value: unknown, units: Readonly<Record<string, number>>, max: number): number | undefined {
  const amount = typeof value === 'string' ? parse(value, units) : value;
  return typeof amount === 'number' && amount >= 0 && amount <= max ? Math.round(amount) : undefined;
}

function parse(text: string, units: Readonly<Record<string, number>>): number | undefined {
  const [, amount, unit = ''] = /^(\d+(?:\.\d+)?)([a-z]+)$/.exec(text) ?? [];
  return amount !== undefined && Object.hasOwn(units, unit) ? Number(amount) * units[unit]! : undefined;
}
