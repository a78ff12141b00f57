/** The text of `auth.json`: one object, providers by name. Pure, and silent about what the text says. */
import { isRecord } from "@tau/ai";
import type { ParseError } from "jsonc-parser";

/** As written, by provider; also what this version does not understand. */
export type AuthEntries = ReadonlyMap<string, unknown>;

/** `line` is counted from 1. */
export type ParsedAuthFile = { kind: "good"; entries: AuthEntries } | { kind: "damaged"; line: number };

export async function parseAuthFile(text: string): Promise<ParsedAuthFile> {
  const source = text.replace(/^\uFEFF/, "");
  if (source.trim() === "") return { kind: "good", entries: new Map() };
  try {
    const value: unknown = JSON.parse(source);
    return isRecord(value) ? { kind: "good", entries: new Map(Object.entries(value)) } : { kind: "damaged", line: 1 };
  } catch (error) {
    // The error quotes the text around the mistake, which may be a key: only its place is passed on.
    if (!(error instanceof SyntaxError)) throw error;
    return { kind: "damaged", line: await firstBadLine(source) };
  }
}

export const encodeAuthFile = (entries: AuthEntries): Uint8Array =>
  new TextEncoder().encode(`${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`);

async function firstBadLine(source: string): Promise<number> {
  const { parseTree } = await import("../jsonc.ts");
  const errors: ParseError[] = [];
  parseTree(source, errors, { disallowComments: true, allowTrailingComma: false });
  return lineAt(source, errors[0]?.offset ?? source.length);
}

/** The line of an entry, or of a field of it; that of the entry where the field is missing. */
export async function lineOfEntry(text: string, provider: string, field?: string): Promise<number | undefined> {
  const { findNodeAtLocation, parseTree } = await import("../jsonc.ts");
  const source = text.replace(/^\uFEFF/, "");
  const root = parseTree(source);
  if (!root) return undefined;
  const entry = findNodeAtLocation(root, [provider]);
  const node = (field === undefined ? undefined : findNodeAtLocation(root, [provider, field])) ?? entry;
  return node && lineAt(source, (node.parent ?? node).offset);
}

const lineAt = (source: string, offset: number) => source.slice(0, offset).split("\n").length;
