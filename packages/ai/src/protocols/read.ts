/** Reading what a server sent: whatever is not of the expected type counts as absent. */
export { toRecord as record } from "../is-record.ts";

export const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

export const text = (value: unknown): string => (typeof value === "string" ? value : "");
