/** The head of a Markdown file: YAML between two lines of dashes. */
import { isRecord } from "@tau/ai/internal";
import { parse } from "yaml";

function split(content: string): { head: string | undefined; body: string } {
  const text = content.replace(/\r\n?/g, "\n");
  const match = /^---([\s\S]*?)\n---/.exec(text);
  // The head begins after the line of dashes, so that errors count its lines from one.
  return match
    ? { head: match[1]?.slice(1), body: text.slice(match[0].length).trim() }
    : { head: undefined, body: text };
}

/** Throws for a head that is not YAML. */
export function parseFrontmatter<T extends Record<string, unknown> = Record<string, unknown>>(
  content: string,
): { frontmatter: T; body: string } {
  const { head, body } = split(content);
  const value: unknown = head === undefined ? {} : parse(head);
  return { frontmatter: (isRecord(value) ? value : {}) as T, body };
}

export const stripFrontmatter = (content: string): string => split(content).body;
