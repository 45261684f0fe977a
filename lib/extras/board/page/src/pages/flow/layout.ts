import { Graph, layout } from '@dagrejs/dagre';
import type { DrawnNode } from './drawn-nodes.js';

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Edge {
  readonly from: string;
  readonly to: string;
  /** Around other nodes. */
  readonly via: readonly Point[];
}

export interface Layout {
  readonly width: number;
  readonly height: number;
  /** The centre of each node by its key. */
  readonly places: ReadonlyMap<string, Point>;
  readonly edges: readonly Edge[];
}

export const NODE = { width: 176, height: 52 };

/** Each node stands after those that it needs: from left to right or, on a phone, from top to bottom. */
export function layoutOf(nodes: readonly DrawnNode[], isVertical: boolean): Layout {
  const graph = new Graph();
  const ranksep = isVertical ? 30 : 40;
  graph.setGraph({ rankdir: isVertical ? 'TB' : 'LR', nodesep: 16, ranksep, marginx: 14, marginy: 14 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { key } of nodes) graph.setNode(key, { ...NODE });
  for (const { key, needs } of nodes) for (const need of needs) graph.setEdge(need, key);
  layout(graph);
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number };
  return {
    ...{ width, height },
    places: new Map(nodes.map(({ key }) => [key, graph.node(key) as Point])),
    edges: nodes.flatMap(({ key, needs }) =>
      needs.map((need) => {
        const { points = [] } = graph.edge(need, key) as { points?: Point[] };
        return { from: need, to: key, via: points.slice(1, -1) };
      }),
    ),
  };
}
