import { stringifyJson } from "@tau/ai/internal";

/** Formats a record as one line of JSON. */
export const jsonLine = (record: unknown): string => `${stringifyJson(record)}\n`;
