/** The most events in any time of this length. The times are in ascending order. */
export function busiestWindow(times: readonly number[], lengthMs: number): number {
  let busiest = 0;
  for (let first = 0, last = 0; last < times.length; last++) {
    while (times[last]! - times[first]! >= lengthMs) first++;
    busiest = Math.max(busiest, last - first + 1);
  }
  return busiest;
}
