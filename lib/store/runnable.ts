// The column `runnable`: the range of index queue in which a job waits. A claim does not change it.

/** It is in its group, behind the head of the group. */
export const IN_GROUP = 3;
/** It has not joined its group yet. */
export const ARRIVING = 4;
/** It was in its group before, so it may stand before the head of the group. Claims read this range, too. */
export const RETURNED = 5;
/** It waits for the end of other jobs of its flow. */
export const BLOCKED = 6;
