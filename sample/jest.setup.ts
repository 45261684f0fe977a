import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

// Each test file has a database of its own, before it loads an application that reads the address.
const folder = mkdtempSync(join(tmpdir(), 'sql-queue-jest-'));
process.env.DATABASE_URL = `sqlite:${join(folder, 'app.sqlite')}`;

afterAll(() => rmSync(folder, { recursive: true, force: true }));
