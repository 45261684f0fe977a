import * as prettier from 'prettier';

/** Formats a generated file for its path, as `npm run format` would. */
export async function formatted(text, path) {
  return prettier.format(text, { ...(await prettier.resolveConfig(path)), filepath: path });
}
