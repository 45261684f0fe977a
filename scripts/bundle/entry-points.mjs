// The only list of the files of lib/ that a program, a thread or a browser loads from the package.

/** What `nestjs-sql-queue` (index) and `nestjs-sql-queue/<name>` load. */
export const ENTRY_POINTS = {
  index: 'index.ts',
  testing: 'extras/testing/index.ts',
  prometheus: 'extras/prometheus/index.ts',
  terminus: 'extras/terminus/index.ts',
  otel: 'extras/otel/index.ts',
  board: 'extras/board/index.ts',
  'bull-board': 'extras/bull-board/index.ts',
  'eslint-plugin': 'extras/eslint-plugin/index.ts',
};

export const COMMAND_LINE = { cli: 'extras/cli/main.ts' };

/** The Nest CLI loads this program with `require`. It shares no code with the entry points, which need Nest. */
export const SCHEMATICS = { schematics: 'extras/schematics/index.ts' };

/** Threads load little, so their programs share no code with the entry points. */
export const THREADS = { 'heartbeat-program': 'worker/heartbeat/heartbeat-program.ts' };

/**
 * The code of the main entry point in parts. A module belongs to the first part whose file imports it, directly or not. The
 * command line prints its help with `base` alone, and runs its commands without `queue`, which needs Nest.
 */
export const PARTS = { base: COMMAND_LINE.cli, engine: 'extras/cli/commands.ts', queue: ENTRY_POINTS.index };
