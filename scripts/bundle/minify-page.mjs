import { minify } from '@swc/core';

/** Shortens the script of the page. Its names are local, so none of them is part of an interface. */
export async function minifyPage(code) {
  const { code: short } = await minify(code, {
    ...{ module: true, compress: { passes: 2 }, mangle: true },
    format: { comments: false },
  });
  return short;
}
