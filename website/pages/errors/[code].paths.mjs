import { errorPages } from '../../source/errors.mjs';

export default { paths: errorPages };
