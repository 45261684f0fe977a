import type { Work } from './statement.js';

/** A connection that has left the pool. Its owner must drop it. */
export interface DedicatedConnection {
  send<T>(work: () => Work<T>): Promise<T>;
  /** Calls `act` when the server or the network ends the connection. */
  onEnd(act: () => void): void;
  /** Ends the connection at once, even while a statement runs on it. */
  drop(): void;
}
