import { Test } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { QueueProducer, SqlQueueModule } from 'nestjs-sql-queue';
import { FakeQueueProducer, QueueHarness } from 'nestjs-sql-queue/testing';
import { AuditLog } from '../audit-log.js';
import { CrmSync } from '../crm-sync.js';
import { LiveView } from '../live-view.js';
import { SignupsService } from '../signups.service.js';
import { User } from '../user.entity.js';

const database = TypeOrmModule.forRoot({
  type: 'better-sqlite3',
  database: ':memory:',
  entities: [User],
  synchronize: true,
});

describe('SignupsService', () => {
  it('publishes the user with the region as a header', async () => {
    const producer = new FakeQueueProducer();
    const module = await Test.createTestingModule({
      imports: [database],
      providers: [SignupsService, { provide: QueueProducer, useValue: producer }],
    }).compile();

    await module.get(SignupsService).signUp({ id: 1, email: 'ada@eu.example', region: 'eu' });

    expect(producer.published).toMatchObject([
      { topic: 'user.created', payload: { id: 1, email: 'ada@eu.example' }, headers: { region: 'eu' } },
    ]);
    await module.close();
  });
});

describe('the publisher and its consumers', () => {
  it('copies each message to the queues whose subscription matches', async () => {
    const app = await Test.createTestingModule({
      imports: [database, SqlQueueModule.forRoot({ worker: { autoStart: false } })],
      providers: [SignupsService, CrmSync, AuditLog, LiveView],
    }).compile();
    await app.init();
    const signups = app.get(SignupsService);

    await signups.signUp({ id: 1, email: 'ada@eu.example', region: 'eu' });
    await signups.signUp({ id: 2, email: 'bob@us.example', region: 'us' });
    const ran = await QueueHarness.of(app).drain();

    expect(ran.map(({ queue, outcome }) => `${queue} ${outcome}`).sort()).toEqual([
      'audit.log complete',
      'audit.log complete',
      'crm.sync complete',
      'live.view complete',
      'live.view complete',
    ]);
    await app.close();
  });
});
