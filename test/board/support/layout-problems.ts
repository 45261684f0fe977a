import type { BoardWindow } from './board-page.js';

/**
 * What a person could not use or read on the page at its present width: a page that scrolls sideways, two controls of which one
 * covers the other, and cut text without a way to the whole text (a title, a link or a button).
 */
export function layoutProblems({ page }: BoardWindow): Promise<string[]> {
  return page.evaluate<string[]>(`(${findProblems.toString()})()`);
}

// The tests have no types of the DOM.
declare const document: any, getComputedStyle: any;

/** Runs in the browser, so it stands alone. */
function findProblems(): string[] {
  type Box = { left: number; top: number; right: number; bottom: number };
  const all: any[] = [...document.querySelectorAll('body *')].filter(
    (one: any) =>
      one.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && one.closest('.hidden') === null,
  );
  const nameOf = (one: any) =>
    `${one.tagName.toLowerCase()}.${[...one.classList].join('.')} “${(one.getAttribute('aria-label') ?? one.textContent)
      .trim()
      .slice(0, 40)
      .replace(/(.)\1{9,}/g, '$1…')}”`;
  const cross = (a: Box, b: Box): Box => ({
    left: Math.max(a.left, b.left),
    top: Math.max(a.top, b.top),
    right: Math.min(a.right, b.right),
    bottom: Math.min(a.bottom, b.bottom),
  });

  const cut = () =>
    all
      .filter((one) => {
        if (one.closest('svg, canvas') !== null || one.clientWidth <= 1 || one.textContent.trim() === '') return false;
        const { overflowX, overflowY } = getComputedStyle(one);
        const isCut = (overflow: string, whole: number, shown: number) =>
          ['hidden', 'clip'].includes(overflow) && whole > shown + 1;
        return (
          (isCut(overflowX, one.scrollWidth, one.clientWidth) ||
            isCut(overflowY, one.scrollHeight, one.clientHeight)) &&
          one.closest('[title], a[href], button, summary') === null &&
          one.querySelector('[title], a[href]') === null
        );
      })
      .map((one) => `cuts ${nameOf(one)}`);

  /** The boxes of the element that a person sees; a link of two lines has two. */
  const boxesOf = (one: any): Box[] => {
    let boxes: Box[] = [...one.getClientRects()];
    for (let outer = one.parentElement; outer !== null; outer = outer.parentElement) {
      const { overflowX, overflowY } = getComputedStyle(outer);
      if (overflowX === 'visible' && overflowY === 'visible') continue;
      boxes = boxes.map((box) => cross(box, outer.getBoundingClientRect()));
    }
    return boxes.filter(({ left, top, right, bottom }) => right - left > 1 && bottom - top > 1);
  };
  const scrolls = () => {
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth <= clientWidth) return [];
    const [widest] = [...all]
      .reverse()
      .filter((one) => boxesOf(one).some(({ right }) => Math.ceil(right) >= scrollWidth));
    return [`scrolls ${scrollWidth - clientWidth} px sideways, ${nameOf(widest ?? document.body)}`];
  };

  /** A bar that keeps its place covers what scrolls below it. */
  const barOf = (one: any): any => {
    for (let outer = one; outer !== null; outer = outer.parentElement)
      if (['fixed', 'sticky'].includes(getComputedStyle(outer).position)) return outer;
    return null;
  };

  const covered = () => {
    const controls = all
      // The graph of a flow pans below its buttons.
      .filter((one) => !one.matches('.gnode'))
      .filter((one) => one.matches('a[href], button, input, select, textarea, summary, [role=button], [tabindex="0"]'))
      .map((one) => ({ one, boxes: boxesOf(one), bar: barOf(one) }));
    const problems: string[] = [];
    controls.forEach((a, index) => {
      for (const b of controls.slice(index + 1)) {
        if (a.bar !== b.bar || a.one.contains(b.one) || b.one.contains(a.one)) continue;
        const isCovered = a.boxes.some((first) =>
          b.boxes.some((second) => {
            const { left, top, right, bottom } = cross(first, second);
            return right - left > 1 && bottom - top > 1;
          }),
        );
        if (isCovered) problems.push(`${nameOf(a.one)} and ${nameOf(b.one)} overlap`);
      }
    });
    return problems;
  };

  return [...scrolls(), ...cut(), ...covered()];
}
