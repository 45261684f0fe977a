import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/**
 * The fate of a statement. `cut`: the connection breaks before the server receives it. `unanswered`: the server executes
 * it, and the connection breaks before the answer. `silent`: neither side receives anything further or closes the
 * connection, like a host without power. `late`: the connection breaks for the client, and the statement reaches the
 * server when the test delivers it. `held`: the statement is delayed until then, and nothing breaks. `replica`: it reads
 * the tables `lag_queue_…`, which a test fills as those of a replica that is behind.
 */
export type ProxyAction = 'pass' | 'cut' | 'unanswered' | 'silent' | 'late' | 'held' | 'replica';

export interface SentStatement {
  readonly sql: string;
  /** The statements since the start of its transaction, including itself. */
  readonly transaction: readonly string[];
}

const COM_QUERY = 3;

/** A proxy between clients and a MySQL server. It reads the statements, and breaks connections as a test requires. */
export class WireProxy {
  readonly #connections = new Set<{ client: Socket; upstream: Socket; silence: () => void; isSilent: () => boolean }>();
  #action: (sent: SentStatement) => ProxyAction = () => 'pass';
  #silent = false;
  #connectionIdShift = 0;
  #held: { upstream: Socket; packet: Buffer; isBroken: boolean }[] = [];

  private constructor(
    private readonly server: Server,
    private readonly target: { host: string; port: number },
  ) {}

  static async open(url: string): Promise<WireProxy> {
    const { hostname, port } = new URL(url);
    // A silent host does not close its side either.
    const server = createServer({ allowHalfOpen: true });
    const proxy = new WireProxy(server, { host: hostname, port: Number(port || 3306) });
    server.on('connection', (client) => proxy.#accept(client));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Decides the fate of each statement from now on. */
  onStatement(fate: (sent: SentStatement) => ProxyAction): void {
    this.#action = fate;
  }

  /** Gives clients other connection ids than those of the server, like a pooling proxy. */
  shiftConnectionIds(by: number): void {
    this.#connectionIdShift = by;
  }

  /**
   * Delivers late and held statements to the server. Returns their number when the server has ended the late
   * connections.
   */
  async deliverHeld(): Promise<number> {
    const late = this.#held.splice(0);
    for (const { upstream, packet, isBroken } of late) {
      upstream.write(packet);
      if (!isBroken) continue;
      upstream.end();
      // A server that is killed meanwhile resets it.
      if (!upstream.closed) await once(upstream, 'close').catch(() => undefined);
    }
    return late.length;
  }

  /** Drops late statements, and closes their connections for the server. */
  dropHeld(): void {
    for (const { upstream } of this.#held.splice(0)) upstream.destroy();
  }

  /** Closes silent connections for the server, like its timeout for dead connections. */
  closeSilent(): void {
    for (const { upstream, isSilent } of this.#connections) if (isSilent()) upstream.destroy();
  }

  /** Breaks silent connections for the client too, like the timeout of its network stack. */
  breakSilent(): void {
    this.closeSilent();
    for (const { client, isSilent } of this.#connections) if (isSilent()) client.destroy();
  }

  /** Silences all connections and all future ones, like a failed network. */
  silence(): void {
    this.#silent = true;
    this.silenceConnections();
  }

  /** Silences all existing connections. New ones pass. */
  silenceConnections(): void {
    for (const { silence } of this.#connections) silence();
  }

  /** Breaks all connections and rejects new ones. It may be called twice. */
  async close(): Promise<void> {
    for (const { client, upstream } of this.#connections) {
      client.destroy();
      upstream.destroy();
    }
    if (!this.server.listening) return;
    this.server.close();
    await once(this.server, 'close');
  }

  #accept(client: Socket): void {
    const upstream = connect(this.target);
    const transaction: string[] = [];
    let held = Buffer.alloc(0);
    let silent = this.#silent;
    let unanswered = false;
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
        const fate = this.#actionFor(packet, transaction);
        if (fate === 'cut') return breakOff();
        if (fate === 'late' || fate === 'held') this.#held.push({ upstream, packet, isBroken: fate === 'late' });
        if (fate === 'late' || fate === 'silent') silent = true;
        if (fate === 'late') client.destroy();
        if (fate === 'pass' || fate === 'unanswered') upstream.write(packet);
        // The names have the same length, so the header of the packet stays valid.
        if (fate === 'replica')
          upstream.write(packet.toString('latin1').replaceAll('sql_queue_', 'lag_queue_'), 'latin1');
        unanswered = fate === 'unanswered';
      }
    });
    upstream.once('data', (greeting: Buffer) => {
      const number = greeting.indexOf(0, 5) + 1;
      greeting.writeUInt32LE(greeting.readUInt32LE(number) + this.#connectionIdShift, number);
    });
    upstream.on('data', (chunk: Buffer) => {
      if (unanswered) breakOff();
      else if (!silent) client.write(chunk);
    });
  }

  #actionFor(packet: Buffer, transaction: string[]): ProxyAction {
    if (packet[3] !== 0 || packet[4] !== COM_QUERY) return 'pass';
    const sql = packet.subarray(5).toString();
    if (/^\W*START TRANSACTION/.test(sql)) transaction.length = 0;
    transaction.push(sql);
    return this.#action({ sql, transaction });
  }
}

/** Whether a proxy that splits reads from writes sends the statement to a replica. */
export function isForReplica({ sql, transaction }: SentStatement): boolean {
  const isInTransaction =
    /^\W*START TRANSACTION/.test(transaction[0]!) && !transaction.some((each) => /\b(COMMIT|ROLLBACK)\b/.test(each));
  return /^\s*SELECT\b/.test(sql) && !/\bFOR UPDATE\b/.test(sql) && !isInTransaction;
}

/** Whether the statement commits new jobs. */
export function commitsJobs({ sql, transaction }: SentStatement): boolean {
  return sql.includes('COMMIT') && transaction.some((each) => /INSERT INTO sql_queue_jobs/.test(each));
}

/** Whether the statement commits a claim. */
export function commitsClaim({ sql, transaction }: SentStatement): boolean {
  return sql.includes('COMMIT') && transaction.some((before) => /INSERT INTO sql_queue_claims/.test(before));
}

/** Whether the statement commits outcomes of jobs. */
export function commitsOutcomes({ sql, transaction }: SentStatement): boolean {
  return (
    sql.includes('COMMIT') &&
    transaction.some((before) => /(DELETE|UPDATE).*sql_queue_jobs/s.test(before)) &&
    !transaction.some((before) => /FOR UPDATE SKIP LOCKED/.test(before))
  );
}

/** Whether the statement commits a transaction that read which jobs of a claim are still its own. */
export function commitsSurvivingCompletions({ sql, transaction }: SentStatement): boolean {
  return (
    sql.includes('COMMIT') &&
    transaction.some((before) => /SELECT id\s+FROM sql_queue_jobs.*claim_id = .*FOR UPDATE/s.test(before))
  );
}

/** Whether the statement commits outcomes together with a claim. */
export function commitsOutcomesAndClaim({ sql, transaction }: SentStatement): boolean {
  const wrote = (table: string) => transaction.some((before) => before.includes(`INTO sql_queue_${table} `));
  return sql.includes('COMMIT') && wrote('history') && wrote('claims');
}

/**
 * Applies the action to the first matching statement, and `next` to all later ones. `interfered` resolves when the action
 * is applied.
 */
export function interfereOnce(
  proxy: WireProxy,
  action: ProxyAction,
  matches: (sent: SentStatement) => boolean,
  next: (sent: SentStatement) => ProxyAction = () => 'pass',
): { interfered: Promise<void> } {
  let markInterfered!: () => void;
  const interfered = new Promise<void>((resolve) => (markInterfered = resolve));
  let done = false;
  proxy.onStatement((sent) => {
    if (done) return next(sent);
    if (!matches(sent)) return 'pass';
    done = true;
    markInterfered();
    return action;
  });
  return { interfered };
}
