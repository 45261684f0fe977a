import { useMemo, useRef } from 'preact/hooks';
import { href } from '../../live/route.js';
import { Icon } from '../../parts/icons.js';
import { iconOf } from '../../parts/state.js';
import { nodeTitle, stateOf, type DrawnNode } from './drawn-nodes.js';
import { EdgeLine } from './edge-line.js';
import { layoutOf, NODE, type Point } from './layout.js';
import { useView } from './use-view.js';

interface Props {
  readonly flow: number;
  readonly nodes: readonly DrawnNode[];
  /** The key of the selected node, which the first view shows. */
  readonly selected: string | undefined;
  readonly label: string;
}

const PHONE = matchMedia('(max-width: 800px)');

/** The graph of a flow. The table below it has the same in words. */
export function FlowGraph({ flow, nodes, selected, label }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const isVertical = PHONE.matches;
  // States change often, and the shape does not.
  const shape = JSON.stringify(nodes.map(({ key, needs }) => [key, needs]));
  const layout = useMemo(() => layoutOf(nodes, isVertical), [shape, isVertical]);
  const { view, zoom, fit, pointer } = useView(box, {
    layout,
    focus: selected === undefined ? undefined : layout.places.get(selected),
    readable: isVertical ? 0.6 : 0.72,
  });
  const byKey = new Map(nodes.map((node) => [node.key, node]));
  return (
    <div class="graph" ref={box} {...pointer}>
      <svg width="100%" height="100%" role="group" aria-label={label}>
        <g transform={`translate(${view.x.toFixed(1)} ${view.y.toFixed(1)}) scale(${view.scale.toFixed(3)})`}>
          {layout.edges.map(({ from, to, via }) => (
            <EdgeLine
              key={`${from} ${to}`}
              from={layout.places.get(from)!}
              to={layout.places.get(to)!}
              via={via}
              isVertical={isVertical}
              state={edgeState(byKey.get(from)!, byKey.get(to)!)}
            />
          ))}
          {nodes.map((node) => (
            <NodeBox
              key={node.key}
              {...{ flow, node }}
              place={layout.places.get(node.key)!}
              isSelected={node.key === selected}
            />
          ))}
        </g>
      </svg>
      <div class="graph-tools" role="toolbar" aria-label="Zoom">
        <button type="button" class="icon-button" aria-label="Zoom in" onClick={() => zoom(1.25)}>
          <Icon name="plus" />
        </button>
        <button type="button" class="icon-button" aria-label="Zoom out" onClick={() => zoom(0.8)}>
          <Icon name="minus" />
        </button>
        <button type="button" class="icon-button" aria-label="Show all" onClick={() => fit(true)}>
          <Icon name="fit" />
        </button>
      </div>
    </div>
  );
}

/** An edge from a dead job holds up the job at its end. */
function edgeState(from: DrawnNode, to: DrawnNode): string {
  return from.jobs.some(({ state }) => state === 'dead') ? 'dead' : stateOf(to);
}

interface NodeProps {
  readonly flow: number;
  readonly node: DrawnNode;
  readonly place: Point;
  readonly isSelected: boolean;
}

/** A link that selects the node. */
function NodeBox({ flow, node, place, isSelected }: NodeProps) {
  const { key, jobs } = node;
  const isStack = jobs.length > 1;
  const state = stateOf(node);
  const completed = jobs.filter((job) => job.state === 'completed').length;
  const note = isStack ? `${completed} of ${jobs.length} completed` : `${state} · ${jobs[0]!.queue}`;
  return (
    <a
      class={`gnode n-${state} ${isSelected ? 'selected' : ''}`}
      href={href('flow', { id: flow, job: key })}
      aria-current={isSelected ? 'true' : undefined}
    >
      <g transform={`translate(${place.x - NODE.width / 2} ${place.y - NODE.height / 2})`}>
        {isStack && <rect class="under" x="5" y="5" width={NODE.width} height={NODE.height} rx="8" />}
        <rect class="body" width={NODE.width} height={NODE.height} rx="8" />
        <rect class="edge-bar" width="4" height={NODE.height - 16} x="0" y="8" rx="2" />
        <svg x="13" y="8" width="16" height="16" class={`s-${state}`}>
          <Icon name={iconOf(state)} />
        </svg>
        <text x="35" y="21" class="gname">
          {cut(nodeTitle(node), 16)}
        </text>
        <text x="14" y="40" class="gqueue">
          {cut(note, 22)}
        </text>
      </g>
    </a>
  );
}

const cut = (text: string, length: number) => (text.length > length ? `${text.slice(0, length - 1)}…` : text);
