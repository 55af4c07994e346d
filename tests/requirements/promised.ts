/** A promise as the themed lists have it: id and sentence. */
export type Promised = readonly [id: string, promise: string];

/** The form of an id, without anchors. */
export const idShape = /(?:§\d+(?:\.\d+)?[a-z]?|DM\d+|SM\d+|case) [A-Za-z0-9][A-Za-z0-9 .-]*/;
