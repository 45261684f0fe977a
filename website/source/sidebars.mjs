// The navigation: guides in the order of docs/README.md, error codes, decisions, API.
import { anchorOf, targetOf } from './places.mjs';
import { read, readDecisions, readErrors, readOutline } from './sources.mjs';

const PROJECT = [
  { text: 'Changes', link: '/changelog.md' },
  { text: 'Samples', link: '/samples.md' },
  { text: 'Contributing', link: '/contributing.md' },
  { text: 'Your first change', link: '/first-change.md' },
  { text: 'Architecture', link: '/architecture.md' },
  { text: 'Method of the benchmarks', link: '/bench.md' },
];

export function guideSidebar() {
  const descriptions = new Map();
  const outline = readOutline().map(({ title, entries }) => {
    const items = entries.map(({ title: text, href, text: description }) => {
      const link = targetOf(href, 'docs/README.md');
      descriptions.set(link, description);
      return { text, link };
    });
    // "Next" leads through the site.
    return { text: title, items: items.filter(({ link }) => link.startsWith('/')) };
  });
  const [first, ...others] = outline;
  const groups = [
    { ...first, items: [{ text: 'Overview', link: '/overview.md' }, ...first.items] },
    ...others,
    { text: 'Project', items: [{ text: 'All pages', link: '/documentation.md' }, ...PROJECT] },
  ];
  const codes = readErrors().map(({ code }) => ({ text: code, link: `/errors/${code}.md` }));
  const shut = groups.map((group) => ({ ...group, collapsed: true, link: `/documentation#${anchorOf(group.text)}` }));
  return {
    descriptions,
    groups,
    groupsWithErrors: [{ text: 'Error codes', items: codes }, ...shut.slice(0, -1)],
  };
}

export function decisionSidebar() {
  const items = readDecisions().map(({ file, number, title }) => ({
    text: `${Number(number)}. ${title}`,
    link: targetOf(file, 'README.md'),
  }));
  return [{ text: 'Decisions', link: '/decisions/', items }];
}

/**
 * The main entry point comes first with its groups, and the other entry points follow. A group that folds needs a link: the
 * theme nests two buttons in a group without one.
 */
export function apiSidebar() {
  const [main] = JSON.parse(read('website/api/typedoc-sidebar.json'));
  const isGroup = ({ link }) => link === undefined;
  return [
    { text: 'All entry points', link: '/api/' },
    withLinks({ ...main, collapsed: undefined, items: main.items.filter(isGroup) }),
    ...main.items.filter((item) => !isGroup(item)).map(withLinks),
  ];
}

function withLinks(entry) {
  const items = entry.items.map((group) => ({ ...group, link: `${entry.link}#${anchorOf(group.text)}` }));
  return { ...entry, items };
}
