/** The names under which tools of servers are offered to models. Pure but for the hash. */
import { createHash } from "node:crypto";
import { matchWildcards } from "@tau/ai/internal";
import type { McpEntry, McpExposure } from "./entry.ts";

const mcpToolPrefix = "mcp__";

/** Providers accept no longer names. */
const maxLength = 64;
const hashLength = 8;

/** Only these characters are accepted by all providers. */
const toPlain = (text: string): string => text.replaceAll(/[^A-Za-z0-9_-]/g, "_");

const toHash = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, hashLength);

/**
 * `mcp__server__tool`. A name that is too long, or has other characters than letters, digits, `_` and `-`, ends in a hash of
 * both names, so that two tools never have the same name.
 */
export function toToolName(server: string, tool: string): string {
  const plain = `${mcpToolPrefix}${toPlain(server)}__${toPlain(tool)}`;
  // Two underscores in a row could belong to either part: `a__b` and `c`, or `a` and `b__c`.
  const isUnique = plain === `${mcpToolPrefix}${server}__${tool}` && !/__|^_|_$/.test(server) && !/^_|__/.test(tool);
  if (isUnique && plain.length <= maxLength) return plain;
  const hash = toHash(JSON.stringify([server, tool]));
  return `${plain.slice(0, maxLength - hashLength - 1)}_${hash}`;
}

/** Exact names come first, then patterns in the order in which they are written. */
export function getToolExposure(entry: Pick<McpEntry, "exposure" | "toolExposure">, tool: string): McpExposure {
  const { exposure, toolExposure } = entry;
  if (Object.hasOwn(toolExposure, tool)) return toolExposure[tool]!;
  const match = Object.entries(toolExposure).find(([pattern]) => pattern.includes("*") && matches(pattern, tool));
  return match?.[1] ?? exposure;
}

const matches = (pattern: string, name: string): boolean =>
  matchWildcards(
    [...pattern],
    [...name],
    (part) => part === "*",
    (part, character) => part === character,
  );
