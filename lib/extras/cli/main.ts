#!/usr/bin/env node
import 'reflect-metadata';
import { run } from './run.js';
import { processTerminal } from './terminal.js';

// The reader of a pipe may end first, as in `… | head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

void run(process.argv.slice(2), process.env, processTerminal).then((code) => (process.exitCode = code));
