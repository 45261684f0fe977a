/** The program of the heartbeat thread. For CommonJS the build replaces import.meta with __filename. */
// @ts-ignore TS1343 when this file is compiled to CommonJS.
export const programUrl = new URL('./program.js', import.meta.url);
