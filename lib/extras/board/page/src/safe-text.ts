import { options, type VNode } from 'preact';

// These turn the text after them around, up to the end of the line: a file name can look like another one.
const DIRECTION_CONTROLS = /[\u202a-\u202e\u2066-\u2069]/g;

// Values of fields stay as they are stored, so that they can be edited.
const SHOWN = ['children', 'title', 'aria-label'];

const safe = (value: unknown) => (typeof value === 'string' ? value.replace(DIRECTION_CONTROLS, '\ufffd') : value);

/** Shows controls of the direction of text as � in each element of the page. */
export function showDirectionControls(): void {
  const { vnode: next } = options;
  options.vnode = (vnode: VNode) => {
    if (typeof vnode.type === 'string') {
      const props = vnode.props as Record<string, unknown>;
      for (const name of SHOWN) {
        const value = props[name];
        if (value !== undefined) props[name] = Array.isArray(value) ? value.map(safe) : safe(value);
      }
    }
    next?.(vnode);
  };
}
