import {
  addTransactionalDataSource,
  deleteDataSourceByName,
  initializeTransactionalContext,
} from 'typeorm-transactional';
import { Signups } from '../build/typeorm-transactional.js';
import type { Connect } from './world.js';

initializeTransactionalContext();

export const connect: Connect = async ({ dataSource, producer }) => {
  addTransactionalDataSource(dataSource);
  const signups = new Signups(dataSource, producer);
  return { signUp: (email) => signups.signUp(email), close: async () => deleteDataSourceByName('default') };
};
