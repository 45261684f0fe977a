import { PublishBatchCommand, SNSClient } from '@aws-sdk/client-sns';
import { Injectable } from '@nestjs/common';
import { JobContext, QueueProcessor, QueueProducer, UnrecoverableError } from 'nestjs-sql-queue';
import type { EntityManager } from 'typeorm';

export interface DomainEvent {
  type: string;
  /** For example `order-7`. Its events are published in their order. */
  aggregate: string;
  data: unknown;
}

/** Belongs into the option `queues` of `SqlQueueModule.forRoot`. */
export const EVENT_QUEUES = { 'event.publish': { groups: { concurrency: 1 } } };

@Injectable()
export class EventOutbox {
  constructor(
    private readonly producer: QueueProducer,
    private readonly sns: SNSClient,
  ) {}

  /** In the transaction of the change that the event reports. */
  async add(event: DomainEvent, manager: EntityManager): Promise<number> {
    const { id } = await this.producer.enqueue('event.publish', event, { manager, group: event.aggregate });
    return id;
  }

  /** Publishes up to ten events in one request, the most that SNS takes. */
  @QueueProcessor('event.publish', {
    batch: 10,
    retry: { attempts: 50, backoff: { type: 'exponential', delay: '1s', max: '5m' } },
    timeout: '30s',
  })
  async publish(jobs: JobContext<DomainEvent>[]): Promise<PromiseSettledResult<void>[]> {
    const entries = jobs.map(({ id, payload }) => ({
      Id: `${id}`,
      MessageGroupId: payload.aggregate,
      // SNS drops a second message with this id within five minutes.
      MessageDeduplicationId: `${id}`,
      MessageAttributes: { type: { DataType: 'String', StringValue: payload.type } },
      Message: JSON.stringify({ id, ...payload }),
    }));
    const request = { TopicArn: process.env['EVENTS_TOPIC_ARN'], PublishBatchRequestEntries: entries };
    const { Failed } = await this.sns.send(new PublishBatchCommand(request), { abortSignal: jobs[0]!.signal });
    return Promise.allSettled(
      jobs.map(async ({ id }) => {
        const refused = Failed?.find(({ Id }) => Id === `${id}`);
        if (!refused) return;
        const reason = `SNS refused the event: ${refused.Message ?? refused.Code}`;
        throw refused.SenderFault ? new UnrecoverableError(reason) : new Error(reason);
      }),
    );
  }
}
