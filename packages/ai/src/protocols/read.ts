/** Helpers to read untrusted JSON: a value of another type than expected counts as empty. */
import { isRecord } from "../is-record.ts";

export const asRecord = (value: unknown): Record<string, unknown> => (isRecord(value) ? value : {});

export const asArray = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

export const asString = (value: unknown): string => (typeof value === "string" ? value : "");
