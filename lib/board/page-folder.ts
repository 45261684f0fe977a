import { fileURLToPath } from 'node:url';

/** The folder with the files of the page. For CommonJS the build replaces import.meta with __filename. */
// @ts-ignore TS1343 when this file is compiled to CommonJS.
export const PAGE_FOLDER = fileURLToPath(new URL('page/', import.meta.url));
