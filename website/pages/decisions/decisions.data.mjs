import { readDecisions } from '../../source/sources.mjs';

export default {
  load() {
    return readDecisions().map(({ file, number, title }) => ({
      ...{ number: Number(number), title, page: `./${file.replace(/^.*\/(.+)\.md$/, '$1')}` },
    }));
  },
};
