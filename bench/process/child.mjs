import { EventEmitter, once } from 'node:events';
import { join } from 'node:path';

/** A process of its own for one worker or one producer, called from here. */
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
    this.#process.on('message', (message) => this.#hear(message));
    this.#process.once('exit', (code, signal) => this.#die(`ended with ${signal ?? code}`));
    this.#process.once('error', (error) => this.#die(error.message));
  }

  get pid() {
    return this.#process.pid;
  }

  /** Resolves with what the method of the child's program returns. */
  call(method, given, { timeoutMs = 180_000 } = {}) {
    if (this.#ended) return Promise.reject(new Error(`the ${this.role} process ${this.#ended}`));
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      const late = () =>
        reject(new Error(`the ${this.role} process did not finish ${method} in ${timeoutMs / 1000} s`));
      const timer = setTimeout(late, timeoutMs);
      this.#calls.set(id, { resolve, reject, timer });
      this.#process.send({ id, method, given });
    }).finally(() => {
      clearTimeout(this.#calls.get(id)?.timer);
      this.#calls.delete(id);
    });
  }

  /** Ends it without asking: what it should do first it has been told by a call. */
  async kill() {
    if (this.#ended) return;
    const exit = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await exit;
  }

  #hear({ id, value, error, event }) {
    const call = this.#calls.get(id);
    if (event) this.emit(event, value);
    else if (error) call?.reject(new Error(`in the ${this.role} process: ${error}`));
    else call?.resolve(value);
  }

  #die(how) {
    this.#ended ??= how;
    for (const { reject } of this.#calls.values()) reject(new Error(`the ${this.role} process ${how}`));
  }
}
