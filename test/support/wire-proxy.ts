import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/**
 * What becomes of a statement. `cut`: the connection breaks before the server has it. `unheard`: the server does it, and
 * the connection breaks before the answer. `silent`: nothing is heard of the connection any more, either way, and nobody
 * closes it, as when a host is switched off. `late`: the connection breaks for the client, while the statement is still on
 * its way to the server, which it reaches when the test says so. `held`: it is on its way for so long, and nothing breaks.
 */
export type Fate = 'pass' | 'cut' | 'unheard' | 'silent' | 'late' | 'held';

export interface Sent {
  readonly sql: string;
  /** What was sent since its transaction began, itself included. */
  readonly transaction: readonly string[];
}

const COM_QUERY = 3;

/** Stands between clients and a MySQL server, reads the statements that pass, and breaks what a test wants broken. */
export class WireProxy {
  readonly #connections = new Set<{ client: Socket; upstream: Socket; silence: () => void; isSilent: () => boolean }>();
  #fate: (sent: Sent) => Fate = () => 'pass';
  #silent = false;
  #renumberedBy = 0;
  #late: { upstream: Socket; packet: Buffer; isBroken: boolean }[] = [];

  private constructor(
    private readonly server: Server,
    private readonly target: { host: string; port: number },
  ) {}

  static async open(url: string): Promise<WireProxy> {
    const { hostname, port } = new URL(url);
    // A silent host does not close its side either.
    const server = createServer({ allowHalfOpen: true });
    const proxy = new WireProxy(server, { host: hostname, port: Number(port || 3306) });
    server.on('connection', (client) => proxy.#join(client));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Asked for the fate of each statement from now on. */
  decide(fate: (sent: Sent) => Fate): void {
    this.#fate = fate;
  }

  /** Gives clients other numbers for their connections than the server knows them by, as proxies that pool them do. */
  renumber(by: number): void {
    this.#renumberedBy = by;
  }

  /** Lets the server have what is late or held; answers how much that was, when the server is done with what was late. */
  async deliver(): Promise<number> {
    const late = this.#late.splice(0);
    for (const { upstream, packet, isBroken } of late) {
      upstream.write(packet);
      if (!isBroken) continue;
      upstream.end();
      // A server that is killed meanwhile resets it.
      if (!upstream.closed) await once(upstream, 'close').catch(() => undefined);
    }
    return late.length;
  }

  /** What is late never gets to the server, which hears that the connection is gone. */
  lose(): void {
    for (const { upstream } of this.#late.splice(0)) upstream.destroy();
  }

  /** The server notices by itself who has gone silent, as it does after a time, and gives up their connections. */
  giveUpSilent(): void {
    for (const { upstream, isSilent } of this.#connections) if (isSilent()) upstream.destroy();
  }

  /** The host that all clients run on, or the network, falls silent. */
  silence(): void {
    this.#silent = true;
    this.silenceOpen();
  }

  /** All connections there are fall silent. New ones pass. */
  silenceOpen(): void {
    for (const { silence } of this.#connections) silence();
  }

  /** Breaks all connections and refuses further ones. May be called twice. */
  async close(): Promise<void> {
    for (const { client, upstream } of this.#connections) {
      client.destroy();
      upstream.destroy();
    }
    if (!this.server.listening) return;
    this.server.close();
    await once(this.server, 'close');
  }

  #join(client: Socket): void {
    const upstream = connect(this.target);
    const transaction: string[] = [];
    let held = Buffer.alloc(0);
    let silent = this.#silent;
    let unheard = false;
    const connection = { client, upstream, silence: () => void (silent = true), isSilent: () => silent };
    this.#connections.add(connection);
    const breakOff = () => {
      this.#connections.delete(connection);
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) socket.on('error', breakOff).on('close', () => silent || breakOff());
    client.on('end', () => silent || breakOff());

    client.on('data', (chunk: Buffer) => {
      held = Buffer.concat([held, chunk]);
      while (!silent && held.length >= 4 && held.length >= 4 + held.readUIntLE(0, 3)) {
        const packet = held.subarray(0, 4 + held.readUIntLE(0, 3));
        held = held.subarray(packet.length);
        const fate = this.#fateOf(packet, transaction);
        if (fate === 'cut') return breakOff();
        if (fate === 'late' || fate === 'held') this.#late.push({ upstream, packet, isBroken: fate === 'late' });
        if (fate === 'late' || fate === 'silent') silent = true;
        if (fate === 'late') client.destroy();
        if (fate === 'pass' || fate === 'unheard') upstream.write(packet);
        unheard = fate === 'unheard';
      }
    });
    upstream.once('data', (greeting: Buffer) => {
      const number = greeting.indexOf(0, 5) + 1;
      greeting.writeUInt32LE(greeting.readUInt32LE(number) + this.#renumberedBy, number);
    });
    upstream.on('data', (chunk: Buffer) => {
      if (unheard) breakOff();
      else if (!silent) client.write(chunk);
    });
  }

  #fateOf(packet: Buffer, transaction: string[]): Fate {
    if (packet[3] !== 0 || packet[4] !== COM_QUERY) return 'pass';
    const sql = packet.subarray(5).toString();
    if (/^\W*START TRANSACTION/.test(sql)) transaction.length = 0;
    transaction.push(sql);
    return this.#fate({ sql, transaction });
  }
}

/** Whether it commits new jobs. */
export function commitsJobs({ sql, transaction }: Sent): boolean {
  return sql.includes('COMMIT') && transaction.some((each) => /INSERT INTO sql_queue_jobs/.test(each));
}

/** Whether it commits the claiming of jobs. */
export function commitsClaim({ sql, transaction }: Sent): boolean {
  return sql.includes('COMMIT') && transaction.some((before) => /INSERT INTO sql_queue_claims/.test(before));
}

/** Whether it commits outcomes of jobs. */
export function commitsOutcomes({ sql, transaction }: Sent): boolean {
  return (
    sql.includes('COMMIT') &&
    transaction.some((before) => /(DELETE|UPDATE).*sql_queue_jobs/s.test(before)) &&
    !transaction.some((before) => /FOR UPDATE SKIP LOCKED/.test(before))
  );
}

/** Whether it commits what was done after a look at which jobs of a claim are still its own. */
export function commitsLook({ sql, transaction }: Sent): boolean {
  return (
    sql.includes('COMMIT') &&
    transaction.some((before) => /SELECT id\s+FROM sql_queue_jobs.*claim_id = .*FOR UPDATE/s.test(before))
  );
}

/** Whether it commits outcomes of jobs together with the claiming of others. */
export function commitsBoth({ sql, transaction }: Sent): boolean {
  const wrote = (table: string) => transaction.some((before) => before.includes(`INTO sql_queue_${table} `));
  return sql.includes('COMMIT') && wrote('history') && wrote('claims');
}

/**
 * That fate for the first statement that matches, then what `next` says, and none for all others. Answers when it has
 * struck.
 */
export function strikeOnce(
  proxy: WireProxy,
  fate: Fate,
  matches: (sent: Sent) => boolean,
  next: (sent: Sent) => Fate = () => 'pass',
): { struck: Promise<void> } {
  let strike!: () => void;
  const struck = new Promise<void>((resolve) => (strike = resolve));
  let done = false;
  proxy.decide((sent) => {
    if (done) return next(sent);
    if (!matches(sent)) return 'pass';
    done = true;
    strike();
    return fate;
  });
  return { struck };
}
