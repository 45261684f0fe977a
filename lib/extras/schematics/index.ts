export { nestAdd } from './nest-add.js';
export { processor } from './processor.js';
