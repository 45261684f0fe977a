import * as prettier from 'prettier';

/** As `npm run format` would leave a file at that path, so that what is generated needs no other hand. */
export async function formatted(text, path) {
  return prettier.format(text, { ...(await prettier.resolveConfig(path)), filepath: path });
}
