// The column `runnable` of a job of a group: the range of index queue in which it waits. A claim does not change it.

/** It is in its group, behind the head of the group. */
export const IN_GROUP = 3;
/** It has not joined its group yet. */
export const ARRIVING = 4;
/** It was in its group before, so it may stand before the head of the group. Claims read this range, too. */
export const RETURNED = 5;
