import { TypeOrmModule } from '@nestjs/typeorm';
import { SqlQueueModule } from 'nestjs-sql-queue';
import { DataSource } from 'typeorm';
import { warnOfSqliteDriver } from '../../lib/nest/sqlite-driver-warning.js';
import { describeServers, freshDatabase } from '../support/servers.js';
import { afterTest, compile } from './support/application.js';

describeServers('an application with a driver of SQLite that does not fit', (server) => {
  it('is warned of it once if it uses SQLite, and never if it does not', async () => {
    const { initialize } = DataSource.prototype;
    afterTest(async () => void (DataSource.prototype.initialize = initialize));
    const database = await freshDatabase(server);
    afterTest(() => database.drop());
    warnOfSqliteDriver('This driver aborts the process.');
    warnOfSqliteDriver('This driver aborts the process.');

    const { log } = await compile({
      imports: [
        TypeOrmModule.forRoot({ ...database.connection, autoLoadEntities: true }),
        SqlQueueModule.forRoot({ worker: false }),
      ],
    });

    expect(log.at('warn')).toEqual(server.name === 'sqlite' ? ['This driver aborts the process.'] : []);
  });
});
