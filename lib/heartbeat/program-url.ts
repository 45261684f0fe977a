/** The file that the heartbeat's thread runs. For `require`, the build puts __filename in the place of import.meta. */
// @ts-ignore TS1343: where this is compiled to CommonJS.
export const programUrl = new URL('./program.js', import.meta.url);
