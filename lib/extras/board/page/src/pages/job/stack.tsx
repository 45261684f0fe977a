/** Frames of the application stand out from those of packages and of Node. */
export function Stack({ text }: { text: string }) {
  const lines = text.split('\n');
  return (
    // With the focus, the keyboard scrolls a long line.
    <pre class="stack" tabIndex={0} role="region" aria-label="Stack">
      {lines.map((line, index) => (
        <span key={index} class={isOwn(line) ? 'own' : ''}>
          {`${line.trim()}\n`}
        </span>
      ))}
    </pre>
  );
}

const isOwn = (line: string) => /^\s*at /.test(line) && !/node_modules|node:|\(internal/.test(line);
