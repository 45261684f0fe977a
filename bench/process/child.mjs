import { EventEmitter, once } from 'node:events';
import { join } from 'node:path';

/** A child process for one worker or one producer, with calls to its methods. */
export class Child extends EventEmitter {
  #process;
  #calls = new Map();
  #lastId = 0;
  #ended;

  /** @param role `worker` or `producer`: the program beside this file */
  constructor(run, role, env) {
    super();
    this.role = role;
    this.#process = run.spawn(process.execPath, [join(import.meta.dirname, `${role}.mjs`)], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      serialization: 'advanced',
      env: { ...process.env, ...env },
    });
    this.#process.on('message', (message) => this.#receive(message));
    this.#process.once('exit', (code, signal) => this.#fail(`ended with ${signal ?? code}`));
    this.#process.once('error', (error) => this.#fail(error.message));
  }

  get pid() {
    return this.#process.pid;
  }

  /** Resolves with the result of a method of the child's program. */
  call(method, args, { timeoutMs = 180_000 } = {}) {
    if (this.#ended) return Promise.reject(new Error(`the ${this.role} process ${this.#ended}`));
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      const onTimeout = () =>
        reject(new Error(`the ${this.role} process did not finish ${method} in ${timeoutMs / 1000} s`));
      const timer = setTimeout(onTimeout, timeoutMs);
      this.#calls.set(id, { resolve, reject, timer });
      this.#process.send({ id, method, args });
    }).finally(() => {
      clearTimeout(this.#calls.get(id)?.timer);
      this.#calls.delete(id);
    });
  }

  /** Kills the process. An orderly end needs a call before. */
  async kill() {
    if (this.#ended) return;
    const exit = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await exit;
  }

  #receive({ id, value, error, event }) {
    const call = this.#calls.get(id);
    if (event) this.emit(event, value);
    else if (error) call?.reject(new Error(`in the ${this.role} process: ${error}`));
    else call?.resolve(value);
  }

  #fail(reason) {
    this.#ended ??= reason;
    for (const { reject } of this.#calls.values()) reject(new Error(`the ${this.role} process ${reason}`));
  }
}
