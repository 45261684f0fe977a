import { compile } from 'vega-lite';
import { parse, View } from 'vega';
import { measures } from './measures.mjs';

const KINDS = ['ours', 'peer, durable', 'peer, not durable'];
const COLORS = ['#d9480f', '#1c7ed6', '#a5b1bd'];

/** An SVG with a bar for each contestant and a line from its lowest to its highest value. */
export async function barChart(scenario, figures) {
  const { read, unit } = measures[scenario.chart];
  const values = figures.flatMap((figure) => {
    const value = figure.of(read);
    return value ? [{ name: figure.contestant.title, kind: kindOf(figure.contestant), ...value }] : [];
  });
  if (values.length === 0) return null;
  const name = { field: 'name', type: 'nominal', sort: null, title: null, axis: { labelLimit: 300 } };
  const { spec } = compile({
    ...{ background: 'white', padding: 10, width: 420, height: { step: 20 } },
    title: { text: `${scenario.title}, ${unit}`, anchor: 'start' },
    data: { values },
    encoding: { y: name },
    layer: [
      {
        mark: 'bar',
        encoding: {
          x: { field: 'median', type: 'quantitative', title: null },
          color: {
            ...{ field: 'kind', type: 'nominal', title: null },
            scale: { domain: KINDS, range: COLORS },
            legend: { orient: 'bottom' },
          },
        },
      },
      {
        mark: { type: 'rule', color: '#333' },
        encoding: { x: { field: 'least', type: 'quantitative' }, x2: { field: 'most' } },
      },
    ],
  });
  return new View(parse(spec), { renderer: 'none' }).toSVG();
}

function kindOf({ ours, durable }) {
  if (ours) return KINDS[0];
  return durable ? KINDS[1] : KINDS[2];
}
