import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Layout, Point } from './layout.js';

/** The part of the graph that is visible. */
export interface View {
  readonly x: number;
  readonly y: number;
  readonly scale: number;
}

const MAX_SCALE = 2.5;
const MIN_SCALE = 0.1;
const WHEEL = 400;

interface Options {
  readonly layout: Layout;
  /** The first view shows it. */
  readonly focus: Point | undefined;
  /** Smaller texts cannot be read: a large graph begins with a part of it. */
  readonly readable: number;
}

/** Moves and scales a graph by the pointer and the wheel. An update keeps the view that the person has chosen. */
export function useView(box: RefObject<HTMLDivElement | null>, { layout, focus, readable }: Options) {
  const [view, setView] = useState<View>({ x: 0, y: 0, scale: 1 });
  const drag = useRef<Point | undefined>(undefined);
  const fit = (isWhole: boolean) => {
    const { clientWidth, clientHeight } = box.current!;
    const all = Math.min(1.1, clientWidth / layout.width, clientHeight / layout.height);
    const scale = isWhole ? all : Math.max(all, readable);
    const x = startOf(clientWidth, layout.width * scale, (focus?.x ?? 0) * scale);
    setView({ scale, x, y: startOf(clientHeight, layout.height * scale, (focus?.y ?? 0) * scale) });
  };
  const size = `${layout.width} ${layout.height}`;
  useEffect(() => fit(false), [size]);
  const zoom = (factor: number, at?: Point) => {
    const { clientWidth, clientHeight } = box.current!;
    const { x: cx, y: cy } = at ?? { x: clientWidth / 2, y: clientHeight / 2 };
    setView(({ x, y, scale: before }) => {
      const scale = Math.min(MAX_SCALE, Math.max(MIN_SCALE, before * factor));
      return { scale, x: cx - ((cx - x) * scale) / before, y: cy - ((cy - y) * scale) / before };
    });
  };
  useEffect(() => {
    const element = box.current!;
    const onWheel = (event: WheelEvent) => {
      // Without the key the wheel scrolls the page.
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const { left, top } = element.getBoundingClientRect();
      zoom(Math.exp(-event.deltaY / WHEEL), { x: event.clientX - left, y: event.clientY - top });
    };
    element.addEventListener('wheel', onWheel, { passive: false });
    return () => element.removeEventListener('wheel', onWheel);
  }, []);
  const onPointerDown = (event: PointerEvent) => {
    if ((event.target as Element).closest('a, button')) return;
    drag.current = { x: event.clientX - view.x, y: event.clientY - view.y };
  };
  const onPointerMove = ({ clientX, clientY, buttons }: PointerEvent) => {
    if (buttons === 0) drag.current = undefined;
    const from = drag.current;
    if (from) setView(({ scale }) => ({ scale, x: clientX - from.x, y: clientY - from.y }));
  };
  const end = () => (drag.current = undefined);
  return { view, zoom, fit, pointer: { onPointerDown, onPointerMove, onPointerUp: end, onPointerLeave: end } };
}

/** Where the graph begins: in the middle if it is small, else so that the focus is in the middle. */
function startOf(room: number, length: number, focus: number): number {
  if (length <= room) return (room - length) / 2;
  return Math.min(0, Math.max(room - length, room / 2 - focus));
}
