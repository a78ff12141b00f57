/** Finds the rule that an answer breaks. Pure. */
import { isRecord } from "@tau/ai/internal";
import type { WatchRule, WatchScope } from "./rule.ts";

/** Characters of each part of an answer that are looked at. */
const maxPartLength = 200_000;

interface Part {
  readonly part: WatchScope["part"];
  readonly tool?: string;
  readonly text: string;
}

/** The first rule with a match. `content` are the blocks of an answer. */
export function findMatch(rules: readonly WatchRule[], content: readonly unknown[]): WatchRule | undefined {
  if (rules.length === 0) return undefined;
  const parts = content.flatMap(toPart);
  return rules.find(({ matchers, scopes }) =>
    parts.some(
      (part) =>
        scopes.some((scope) => isInScope(part, scope)) && matchers.some((matcher) => matcher.matches(part.text)),
    ),
  );
}

const isInScope = ({ part, tool }: Part, scope: WatchScope): boolean =>
  scope.part === part && (scope.part !== "arguments" || scope.tool === undefined || scope.tool === tool);

function toPart(block: unknown): Part[] {
  if (!isRecord(block)) return [];
  const { type, text, thinking, name } = block;
  if (type === "text") return [{ part: "text", text: cut(text) }];
  if (type === "thinking") return [{ part: "thinking", text: cut(thinking) }];
  if (type !== "toolCall") return [];
  // The values as the tool gets them: in JSON a model can write every character in several ways.
  const values = listTexts(block["arguments"]).join("\n");
  return [{ part: "arguments", text: cut(values), ...(typeof name === "string" && { tool: name }) }];
}

const cut = (text: unknown): string => (typeof text === "string" ? text.slice(0, maxPartLength) : "");

/** All texts in a value of JSON, and its numbers. */
function listTexts(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value === "number") return [String(value)];
  if (Array.isArray(value)) return value.flatMap(listTexts);
  return isRecord(value) ? Object.values(value).flatMap(listTexts) : [];
}
