/** Digests of requests. */
import { createHash } from "node:crypto";
import { isRecord } from "@tau/ai/internal";

/** Returns the same digest for the same content, whatever the order of its fields. */
export const getDigest = (value: unknown): string =>
  createHash("sha256")
    .update(JSON.stringify(value, (_key, part: unknown) => (isRecord(part) ? sortFields(part) : part)))
    .digest("base64url");

const sortFields = (value: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
