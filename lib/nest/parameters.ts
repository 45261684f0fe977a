import 'reflect-metadata';
import type { PipeTransform, Type } from '@nestjs/common';
import type { JobContext } from '../worker/run/job-context.js';

/** The metadata key of Nest for parameters. Nest creates pipes, and reads custom parameter decorators, from this key only. */
export const PARAMETERS = '__routeArguments__';

// The number of Nest for the body of a request, because pipes such as ValidationPipe ignore unknown kinds of parameters.
const PAYLOAD = 3;
const CONTEXT = 100;
const HEADER = 101;
const SIGNAL = 102;

type Pipe = PipeTransform | Type<PipeTransform>;

/** Injects the payload of the job, transformed by the pipes. */
export function JobPayload(...pipes: Pipe[]): ParameterDecorator {
  return parameter(PAYLOAD, undefined, pipes);
}

/** Injects the JobContext. Needed only if other parameters of the handler have decorators. */
export function JobCtx(): ParameterDecorator {
  return parameter(CONTEXT);
}

/** Injects one header of the job, or all headers if no name is given. */
export function JobHeader(name?: string): ParameterDecorator {
  return parameter(HEADER, name);
}

/** Injects the signal of the job. It is aborted on timeout, cancellation, shutdown and the loss of the lease. */
export function JobSignal(): ParameterDecorator {
  return parameter(SIGNAL);
}

function parameter(kind: number, data?: string, pipes: Pipe[] = []): ParameterDecorator {
  return (target, method, index) => {
    // Own metadata only: a method that overrides another one does not inherit the decorators of its parameters.
    const others = (Reflect.getOwnMetadata(PARAMETERS, target.constructor, method!) ?? {}) as object;
    Reflect.defineMetadata(
      PARAMETERS,
      { ...others, [`${kind}:${index}`]: { index, data, pipes } },
      target.constructor,
      method!,
    );
  };
}

/** Computes the value of a decorated parameter for Nest. For a batch, it is an array with one value per job. */
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
