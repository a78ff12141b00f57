/** The text of `auth.json`: one object, providers by name. Nothing here repeats what the text says. */
import { isRecord } from "@tau/ai/internal";
import { parseJsonDocument } from "../json/document.ts";

/** The entries as written, by provider; also entries that this version does not understand. */
export type AuthEntries = ReadonlyMap<string, unknown>;

/** `line` is counted from 1. */
type ParsedAuthFile = { kind: "good"; entries: AuthEntries } | { kind: "damaged"; line: number };

export async function parseAuthFile(text: string): Promise<ParsedAuthFile> {
  const source = text.replace(/^\uFEFF/, "");
  if (source.trim() === "") return { kind: "good", entries: new Map() };
  try {
    const value: unknown = JSON.parse(source);
    return isRecord(value) ? { kind: "good", entries: new Map(Object.entries(value)) } : { kind: "damaged", line: 1 };
  } catch (error) {
    // The parser quotes the text around the error, which may be a key: only the line is passed on.
    if (!(error instanceof SyntaxError)) throw error;
    const parsed = await parseJsonDocument(source, { strict: true });
    return { kind: "damaged", line: parsed.kind === "damaged" ? parsed.position.line : 1 };
  }
}

export const encodeAuthFile = (entries: AuthEntries): Uint8Array =>
  new TextEncoder().encode(`${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`);
