import 'reflect-metadata';
import type { PipeTransform, Type } from '@nestjs/common';
import type { JobContext } from '../runtime/job-context.js';
import { PARAMETERS } from './metadata.js';

// Nest's own number for a request's body: pipes such as ValidationPipe leave unknown kinds of parameters alone.
const PAYLOAD = 3;
const CONTEXT = 100;
const HEADER = 101;
const SIGNAL = 102;

type Pipe = PipeTransform | Type<PipeTransform>;

/** The job's payload, through the given pipes. */
export function JobPayload(...pipes: Pipe[]): ParameterDecorator {
  return parameter(PAYLOAD, undefined, pipes);
}

/** The JobContext itself, where other parameters are decorated too. */
export function JobCtx(): ParameterDecorator {
  return parameter(CONTEXT);
}

/** One header of the job, or all of them. */
export function JobHeader(name?: string): ParameterDecorator {
  return parameter(HEADER, name);
}

/** The signal that is aborted on timeout, cancel, shutdown and when the lease is lost. */
export function JobSignal(): ParameterDecorator {
  return parameter(SIGNAL);
}

function parameter(kind: number, data?: string, pipes: Pipe[] = []): ParameterDecorator {
  return (target, method, index) => {
    // Its own ones only: where a method overrides another, that one's parameters are not its parameters.
    const others = (Reflect.getOwnMetadata(PARAMETERS, target.constructor, method!) ?? {}) as object;
    Reflect.defineMetadata(
      PARAMETERS,
      { ...others, [`${kind}:${index}`]: { index, data, pipes } },
      target.constructor,
      method!,
    );
  };
}

/** Tells Nest what a decorated parameter is for a job; for a batch, a list of what it is for each. */
export const jobParameters = {
  exchangeKeyForValue(kind: number, data: unknown, [given]: [JobContext | JobContext[]]): unknown {
    return Array.isArray(given) ? given.map((job) => parameterOf(job, kind, data)) : parameterOf(given, kind, data);
  },
};

function parameterOf(job: JobContext, kind: number, data: unknown): unknown {
  switch (kind) {
    case PAYLOAD:
      return job.payload;
    case HEADER:
      return typeof data === 'string' ? job.headers[data] : job.headers;
    case SIGNAL:
      return job.signal;
    default:
      return job;
  }
}
