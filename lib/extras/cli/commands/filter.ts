import { JOB_STATES, type JobState } from '../../../job/job-state.js';
import type { JobFilter } from '../../../store/admin/admin-store.js';
import { oneOf, type CallOptions } from '../command.js';
import { UsageError } from '../errors.js';

/** The options that select jobs. */
export const FILTER_USAGE =
  '[--queue Q] [--state S] [--name N] [--error E] [--key K] [--group G] [--schedule S] [--owner O] [--worker W] ' +
  '[--header NAME=VALUE]';

export function filterOf(options: CallOptions): JobFilter {
  const state = options.text('state');
  const headers = options.texts('header').map(headerOf);
  return {
    ...options.given('queue', 'name', 'error', 'key', 'group', 'schedule', 'owner', 'worker'),
    ...(state !== undefined && { state: stateOf(state) }),
    ...(headers.length > 0 && { headers: Object.fromEntries(headers) }),
  };
}

export function stateOf(state: string): JobState {
  return oneOf(`a state (${JOB_STATES.join(', ')})`, JOB_STATES, state);
}

function headerOf(header: string): [string, string] {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(header) ?? [];
  if (name === undefined) throw new UsageError(`expected --header to be NAME=VALUE, got "${header}"`);
  return [name, value!];
}
