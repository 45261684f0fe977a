import { Child } from '../process/child.mjs';
import { CpuMeter } from './cpu-meter.mjs';

/** One run of one contestant: an empty database and the processes that use it. */
export class Trial {
  #run;
  #servers;
  #children = [];
  #meter;
  #onEnd = [];

  /** @param instance names a separate server for this trial, if several trials run concurrently */
  static async begin({ run, servers, contestant, profile, instance }) {
    const trial = new Trial();
    Object.assign(trial, { contestant, profile });
    trial.#run = run;
    trial.#servers = servers;
    trial.server = await servers.get(contestant.server, instance);
    trial.place = await servers.fresh(trial.server);
    return trial;
  }

  /** Starts a producer process, which connects and creates the tables. */
  async producer(queues = ['bench']) {
    const child = this.#spawn('producer');
    await child.call('open', this.#withContestant({ queues }));
    return child;
  }

  /** A worker process that is idle until its `start` is called. */
  worker({ queues = ['bench'], indexes, timeClaims = false }) {
    const child = this.#spawn('worker');
    const start = () => child.call('start', this.#withContestant({ queues, indexes, timeClaims }));
    return Object.assign(child, { start });
  }

  /** Updates the database's statistics and waits until the servers are at rest after the queue was filled. */
  async untilAtRest() {
    await this.server.analyze(this.place.name);
    await this.#servers.untilAtRest();
  }

  /** Measures the CPU time of workers, producers and server from now on. */
  meter() {
    const pids = (role) => this.#children.filter((child) => child.role === role).map(({ pid }) => pid);
    this.#meter = new CpuMeter({ workers: pids('worker'), producers: pids('producer'), server: this.server.pids });
    return this.#meter;
  }

  /** Registers a function to call when the trial ends, also after an error. */
  onEnd(undo) {
    this.#onEnd.push(undo);
  }

  async end() {
    this.#meter?.stop();
    for (const undo of this.#onEnd) await undo();
    await Promise.all(this.#children.map((child) => child.kill()));
    await this.place.drop();
  }

  #withContestant(more) {
    return { contestant: this.contestant.id, profile: this.profile, url: this.place.url, ...more };
  }

  #spawn(role) {
    const { env } = this.contestant.settings[this.profile];
    const child = new Child(this.#run, role, { NODE_ENV: 'production', ...env });
    this.#children.push(child);
    return child;
  }
}
