/**
 * The child's end of a Child: answers calls with what `methods` return. The parent's end is the end of this process,
 * so that nothing is left running.
 */
export function serve(methods) {
  process.on('message', (message) => void serveOne(methods, message));
  process.on('disconnect', () => process.exit(1));
  process.on('unhandledRejection', (error) => {
    throw error;
  });
}

async function serveOne(methods, { id, method, given }) {
  try {
    answer({ id, value: await methods[method](given) });
  } catch (error) {
    answer({ id, error: error.stack ?? String(error) });
  }
}

/** Tells the parent something it did not ask for. */
export function report(event, value) {
  answer({ event, value });
}

function answer(message) {
  if (process.connected) process.send(message);
}
