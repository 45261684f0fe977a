import { Child } from '../process/child.mjs';
import { CpuMeter } from './cpu-meter.mjs';

/** One run of one contestant: an empty database, and the processes that work on it. */
export class Trial {
  #run;
  #servers;
  #children = [];
  #meter;
  #onEnd = [];

  /** @param instance a server of this trial's own, where several trials run side by side */
  static async begin({ run, servers, contestant, profile, instance }) {
    const trial = new Trial();
    Object.assign(trial, { contestant, profile });
    trial.#run = run;
    trial.#servers = servers;
    trial.server = await servers.get(contestant.server, instance);
    trial.place = await servers.fresh(trial.server);
    return trial;
  }

  /** A producer process that is connected; making the tables is part of that. */
  async producer(queues = ['bench']) {
    const child = this.#spawn('producer');
    await child.call('open', this.#given({ queues }));
    return child;
  }

  /** A worker process that does not work yet: `start` begins. */
  worker({ queues = ['bench'], indexes, timeClaims = false }) {
    const child = this.#spawn('worker');
    const start = () => child.call('start', this.#given({ queues, indexes, timeClaims }));
    return Object.assign(child, { start });
  }

  /** Statistics as they would be after some time of service, and nothing left to do from filling the queue. */
  async rest() {
    await this.server.analyze(this.place.name);
    await this.#servers.settle();
  }

  /** Follows what workers, producers and server use from now on. */
  meter() {
    const pids = (role) => this.#children.filter((child) => child.role === role).map(({ pid }) => pid);
    this.#meter = new CpuMeter({ workers: pids('worker'), producers: pids('producer'), server: this.server.pids });
    return this.#meter;
  }

  /** Something to undo when the trial ends, whatever becomes of it. */
  onEnd(undo) {
    this.#onEnd.push(undo);
  }

  async end() {
    this.#meter?.stop();
    for (const undo of this.#onEnd) await undo();
    await Promise.all(this.#children.map((child) => child.kill()));
    await this.place.drop();
  }

  #given(more) {
    return { contestant: this.contestant.id, profile: this.profile, url: this.place.url, ...more };
  }

  #spawn(role) {
    const { env } = this.contestant.settings[this.profile];
    const child = new Child(this.#run, role, { NODE_ENV: 'production', ...env });
    this.#children.push(child);
    return child;
  }
}
