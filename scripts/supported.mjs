// The versions that this library supports, and on which it is tested. A test compares the README and the workflows to
// them.

/** The oldest supported release, then the newest one of each line, each with the npm that it shipped with. */
export const nodeLines = {
  20.19: { node: '20.19.0', npm: '10' },
  22: { node: '22', npm: '10' },
  24: { node: '24', npm: '11' },
  26: { node: '26', npm: '11' },
};

export const databases = { mysql: 'MySQL', mariadb: 'MariaDB', sqlite: 'SQLite' };
