// Adapts Markdown that is written for GitHub: links to files, error codes, braces, pictures for dark pages, and tables that
// are wider than a phone.
import { existsSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { imageOf, root, targetOf } from './places.mjs';
import { readErrors } from './sources.mjs';

const codes = new Set(readErrors().map(({ code }) => code));

const PICTURE = /<picture>.*?<img alt="([^"]*)" src="([^"]*)"><\/picture>/g;

export function rewriteMarkdown(md) {
  // The site has a theme of its own, which the browser does not know.
  md.core.ruler.before('normalize', 'pictures', (state) => {
    state.src = state.src.replaceAll(PICTURE, '![$1]($2)');
  });

  md.core.ruler.push('links-of-error-codes', ({ tokens, Token }) => {
    for (const { children } of tokens) {
      if (!children || children.some(({ type }) => type === 'link_open')) continue;
      for (const code of children.filter(({ type, content }) => type === 'code_inline' && codes.has(content))) {
        const open = Object.assign(new Token('link_open', 'a', 1), { attrs: [['href', `/errors/${code.content}.md`]] });
        children.splice(children.indexOf(code), 1, open, code, new Token('link_close', 'a', -1));
      }
    }
  });

  md.core.ruler.push('links-of-the-site', ({ tokens, env, Token }) => {
    const path = env.realPath ?? env.path;
    // Titles are parsed without a file.
    if (path === undefined) return;
    const file = relative(root, path);
    for (const parent of tokens.filter(({ children }) => children)) {
      parent.children = parent.children.flatMap((token) => {
        if (token.type === 'link_open') token.attrSet('href', targetOf(token.attrGet('href'), file));
        if (token.type !== 'image') return token;
        const src = imageOf(token.attrGet('src'), file);
        if (src === undefined) return Object.assign(token, { type: 'text', tag: '', attrs: null, children: null });
        token.attrSet('src', src);
        const dark = src.replace(/\.png$/, '-dark.png');
        if (dark === src || !existsSync(join(root, dirname(file), dark))) return token;
        const attrs = token.attrs.filter(([name]) => name !== 'src');
        const ofTheme = (theme, address) =>
          Object.assign(new Token('image', 'img', 0), token, {
            attrs: [...attrs, ['src', address], ['class', `on-${theme}`]],
          });
        return [ofTheme('light', src), ofTheme('dark', dark)];
      });
    }
  });

  // Vue would evaluate braces in text.
  const { text } = md.renderer.rules;
  md.renderer.rules.text = (...args) => text(...args).replaceAll('{{', '&#123;&#123;');

  // A table scrolls on its own, also by keys.
  md.renderer.rules.table_open = () => '<div class="table" tabindex="0" role="group" aria-label="Table"><table>';
  md.renderer.rules.table_close = () => '</table></div>';
}
