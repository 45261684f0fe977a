export { limitPages, pageSize } from '../../common/page-size.js';
