import { mariadb, mysql } from '../../lib/store/databases/mysql/mysql.js';
import { serverProblems, versionProblem } from '../../lib/store/databases/mysql/mysql-checks.js';

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

describe('the page size of InnoDB', () => {
  const problemsOf = (dialect: typeof mysql, pageBytes: number) =>
    serverProblems(
      { dialect, pageBytes, version: '99.0.0', packetBytes: 67_108_864, binlogFormat: undefined },
      1_048_576,
    );

  it('is too small on MySQL if the indexes do not fit', () => {
    expect(problemsOf(mysql, 4_096)).toEqual([
      expect.stringMatching(/^expected innodb_page_size of at least 8192, got 4096: .* larger pages$/),
    ]);
  });

  it.each([8_192, 16_384, 65_536])('may be %s on MySQL', (pageBytes) => {
    expect(problemsOf(mysql, pageBytes)).toEqual([]);
  });

  it('may be 4096 on MariaDB', () => {
    expect(problemsOf(mariadb, 4_096)).toEqual([]);
  });
});
