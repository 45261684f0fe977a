import { createRequire } from 'node:module';
import { join } from 'node:path';

// Undefined in a bundle of CommonJS. For CommonJS the build replaces import.meta with __filename.
// @ts-ignore TS1343 when this file is compiled to CommonJS.
const ownUrl = import.meta.url as string | URL | undefined;

/** Loads a package as this library finds it. In a bundle: as the program in the working directory does. */
export const requireHere = createRequire(ownUrl ?? join(process.cwd(), 'index.js'));
