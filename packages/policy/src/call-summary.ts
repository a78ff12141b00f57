/** Summarises a call for a person who is asked. Pure. */
import type { DescribedTool } from "@tau/tools";

const maxCharacters = 300;

export interface CalledTool {
  /** Undefined for a tool that is not there. */
  tool: DescribedTool | undefined;
  name: string;
  /** Validated. */
  args: unknown;
}

/** Summarises a call in one line of at most 300 characters, in which nothing is hidden but what was cut. */
export function summariseCall({ tool, name, args }: CalledTool): string {
  const summary = getSummary(tool, args) ?? `Call ${name} with ${JSON.stringify(args) ?? "nothing"}`;
  return toVisibleLine(summary, maxCharacters);
}

/** A tool whose own words fail must not keep a person from being asked. */
function getSummary(tool: DescribedTool | undefined, args: unknown): string | undefined {
  try {
    const summary: unknown = tool?.summarise?.(args as Record<string, unknown>);
    return typeof summary === "string" ? summary : undefined;
  } catch {
    return undefined;
  }
}

/** `text` with everything that cannot be seen, breaks a line or changes the direction of reading written out. */
export function toVisibleLine(text: string, max: number): string {
  // Created here: compiling it takes longer than all else here, and few runs need it.
  const hidden = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
  // Cut twice: writing out makes it longer, and a long text need not be written out to its end.
  const visible = text.slice(0, max + 1).replaceAll(hidden, escapeCharacter);
  return visible.length > max ? `${visible.slice(0, max - 1)}…` : visible;
}

function escapeCharacter(character: string): string {
  if (character === "\n") return "\\n";
  if (character === "\t") return "\\t";
  return `\\u{${character.codePointAt(0)!.toString(16)}}`;
}
