/** @type {() => Promise<unknown>} */
let redraw = async () => {};

/** @param {() => Promise<unknown>} draw */
export function onRefresh(draw) {
  redraw = draw;
}

/** Draws the open page again, for example after an action. */
export function refresh() {
  return redraw();
}
