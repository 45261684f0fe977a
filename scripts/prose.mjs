// npm run prose [-- --list PATTERN]: counts English patterns that are hard to read in comments, docs and test names.
//
// Prints how often each pattern occurs per 10,000 words, and fails while a figure is above its limit. The limits are
// those that comparable job queues keep. --list prints every place of one pattern, such as `npm run prose -- --list
// what-clause`.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

const MAX_WORDS = 28;
const PATTERNS = {
  'nobody/whoever': { regex: /\b(nobody|somebody|anybody|whoever|whomever)\b/gi, limit: 3 },
  'what-clause': {
    regex: /\bwhat(ever)? (is|was|were|has|have|it|they|there|each|a|the|would|must|can|does|did)\b/gi,
    limit: 8,
  },
  'where (for if/when)': { regex: /\bwhere\b(?! clause)/gi, limit: 16 },
  'tell/told': { regex: /\b(tell|tells|told|telling)\b/gi, limit: 5 },
  'stock phrases': {
    regex:
      /\b(so many|so long|by then|at the most|in vain|all the same|a moment ago|goes by itself|by itself|in front of all|no less|for good)\b/gi,
    limit: 3,
  },
  [`sentence over ${MAX_WORDS} words`]: { limit: 95 },
};
// Generated from measurements, history, and this file, which has to name the patterns.
const EXCLUDED = /(^|\/)(node_modules|dist)\/|^docs\/benchmarks\.md$|^CHANGELOG\.md$|^scripts\/prose\.mjs$/;

const root = resolve(import.meta.dirname, '..');
const { values } = parseArgs({ options: { list: { type: 'string' } } });
if (values.list !== undefined && !(values.list in PATTERNS)) {
  console.error(`--list: expected ${Object.keys(PATTERNS).join(', ')}, got "${values.list}"`);
  process.exit(2);
}

let isAboveLimit = false;
for (const [kind, texts] of Object.entries(readTexts())) {
  const words = texts.reduce((sum, { text }) => sum + countWords(text), 0) || 1;
  const figures = Object.entries(PATTERNS).map(([name, { regex, limit }]) => {
    const places = texts.flatMap(({ file, text }) =>
      (regex ? matches(text, regex) : longSentences(text)).map((place) => `${file}: ${place}`),
    );
    if (name === values.list) places.forEach((place) => console.log(place));
    const figure = (10_000 * places.length) / words;
    if (figure > limit) isAboveLimit = true;
    return `${name} ${figure.toFixed(1)}${figure > limit ? ` (limit ${limit})` : ''}`;
  });
  console.log(`${kind}: ${words} words; ${figures.join(' · ')}`);
}
process.exitCode = isAboveLimit ? 1 : 0;

/**
 * The prose of all files of the repository, without code.
 *
 * @returns {Record<string, { file: string, text: string }[]>}
 */
function readTexts() {
  const listed = execFileSync('git', ['ls-files', '*.ts', '*.mjs', '*.md'], { cwd: root, encoding: 'utf8' });
  const files = listed.split('\n').filter((path) => path !== '' && !EXCLUDED.test(path));
  const read = (ends, proseOf) =>
    files
      .filter((file) => ends.test(file))
      .map((file) => ({ file, text: proseOf(readFileSync(join(root, file), 'utf8')) }));
  return {
    comments: read(/\.(ts|mjs)$/, commentsOf),
    docs: read(/\.md$/, proseOfMarkdown),
    'test names': read(/\.spec\.ts$/, testNamesOf),
  };
}

function proseOfMarkdown(source) {
  return source
    .replace(/```[\s\S]*?```/g, ' ')
    .replace(/`[^`]*`/g, 'x')
    .replace(/^\|.*$/gm, (row) => row.replace(/\|/g, '. '));
}

function commentsOf(source) {
  return [...source.matchAll(/\/\*\*?([\s\S]*?)\*\/|(?:^|\s)\/\/(.*)$/gm)]
    .map(([, block, line]) => (block ?? line).replace(/^\s*\* ?/gm, ' ').replace(/`[^`]*`|\{@.*?\}/g, 'x'))
    .join('\n');
}

/** Titles of tests and suites, also of those that run once per row of a table or once per server. */
function testNamesOf(source) {
  const titles =
    /(?:\b(?:it|test|describe\w*)(?:\.\w+)*\((?:\[[^\]]*\],)?|\)\()\s*(['"`])([\s\S]*?)\1,\s*(?:async )?\(/g;
  return [...source.matchAll(titles)].map(([, , name]) => `${name}.`).join('\n');
}

/** The surroundings of each match. */
function matches(text, regex) {
  return [...text.matchAll(regex)].map(({ index }) => onOneLine(text.slice(Math.max(0, index - 50), index + 60)));
}

function longSentences(text) {
  return text
    .split(/(?<=[.!?:;])\s+|\n\s*\n|\n\s*[-*] /)
    .filter((sentence) => countWords(sentence) > MAX_WORDS)
    .map((sentence) => onOneLine(sentence).slice(0, 180));
}

function countWords(text) {
  return text.match(/\w+/g)?.length ?? 0;
}

function onOneLine(text) {
  return text.replace(/\s+/g, ' ').trim();
}
