/**
 * The child's side of a Child: answers calls with the results of `methods`. This process ends with its parent, so that
 * no process is left running.
 */
export function serve(methods) {
  process.on('message', (message) => void serveOne(methods, message));
  process.on('disconnect', () => process.exit(1));
  process.on('unhandledRejection', (error) => {
    throw error;
  });
}

async function serveOne(methods, { id, method, args }) {
  try {
    send({ id, value: await methods[method](args) });
  } catch (error) {
    send({ id, error: error.stack ?? String(error) });
  }
}

/** Sends the parent an event. */
export function report(event, value) {
  send({ event, value });
}

function send(message) {
  if (process.connected) process.send(message);
}
