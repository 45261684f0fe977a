import { versionProblem } from '../../lib/store/mysql/mysql-checks.js';

describe('the server version', () => {
  it.each([
    '8.0.13',
    '8.0.36-28',
    '8.4.3',
    '9.7.0',
    '10.6.0-MariaDB',
    '10.11.6-MariaDB-0+deb12u1',
    '11.8.2-MariaDB',
    '5.5.5-10.11.6-MariaDB-log',
  ])('%s is new enough', (version) => {
    expect(versionProblem(version)).toBeUndefined();
  });

  it.each(['5.7.44', '8.0.12', '8.0.11-TiDB-v7.5.0', 'unknown'])('%s is too old for MySQL', (version) => {
    expect(versionProblem(version)).toMatch(/expected MySQL 8\.0\.13 or newer .*Upgrade the server/);
  });

  it.each(['10.5.23-MariaDB', '5.5.5-10.5.23-MariaDB', '5.5.68-MariaDB'])('%s is too old for MariaDB', (version) => {
    expect(versionProblem(version)).toMatch(/expected MariaDB 10\.6 or newer/);
  });
});
