import { stringifyJson } from "@tau/ai/internal";

/** One record as one line of JSON. */
export const jsonLine = (record: unknown): string => `${stringifyJson(record)}\n`;
