import { createRequire } from 'node:module';
import { join } from 'node:path';

// Undefined if an application bundles the ES modules as CommonJS. Our own CommonJS files have __filename instead.
const ownUrl = import.meta.url as string | URL | undefined;

/** Loads a package as this library finds it. In a bundle: as the program in the working directory does. */
export const requireHere = createRequire(ownUrl ?? join(process.cwd(), 'index.js'));
