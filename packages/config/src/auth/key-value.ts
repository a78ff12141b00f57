/** Resolves written keys: literal text, variables, or a command that prints the key. */
import { type Failed, failed } from "./failure.ts";

type KeyPart = { kind: "text"; text: string } | { kind: "variable"; name: string };

type KeyTemplate = { kind: "command"; command: string } | { kind: "parts"; parts: readonly KeyPart[] };

/** `$NAME` and `${NAME}` are variables, `$$` is a dollar, `$!` is a `!`. Any other dollar is itself. Pure. */
export function parseKey(value: string): KeyTemplate {
  if (value.startsWith("!")) return { kind: "command", command: value.slice(1).trim() };
  const parts: KeyPart[] = [];
  let text = "";
  let end = 0;
  for (const match of value.matchAll(/\$(?:([$!])|([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})/g)) {
    const [whole, escaped, plain, braced] = match;
    text += value.slice(end, match.index) + (escaped ?? "");
    end = match.index + whole.length;
    const name = plain ?? braced;
    if (name === undefined) continue;
    if (text !== "") parts.push({ kind: "text", text });
    parts.push({ kind: "variable", name });
    text = "";
  }
  text += value.slice(end);
  if (text !== "") parts.push({ kind: "text", text });
  return { kind: "parts", parts };
}

/** Escapes a key, so that `parseKey` reads it as literal text. */
export const literalKey = (key: string): string => key.replaceAll("$", "$$$$").replace(/^!/, "$!");

interface ResolveKeyOptions {
  /** For messages: `the key of anthropic`. */
  subject: string;
  env: (name: string) => string | undefined;
  /** Runs a command and returns the key it prints. Absent: commands are refused, since the user did not write the text. */
  run?: (command: string, subject: string) => Promise<KeyValue>;
}

export type KeyValue = { kind: "value"; value: string } | Failed;

export async function resolveKey(written: string, { subject, env, run }: ResolveKeyOptions): Promise<KeyValue> {
  const template = parseKey(written);
  if (template.kind === "command") {
    if (run) return await run(template.command, subject);
    return failed("command", `${capital(subject)} is a command, and commands are run only from your own files.`);
  }
  let value = "";
  for (const part of template.parts) {
    const text = part.kind === "text" ? part.text : env(part.name);
    if (!text && part.kind === "variable") {
      return failed(
        "missing_variable",
        `${capital(subject)} needs the variable ${part.name}, which is not set. Set it, or store another key.`,
      );
    }
    value += text;
  }
  return checkKey(value, subject);
}

/** A key is sent in a header, so it has to be one line that is not empty. */
export function checkKey(value: string, subject: string): KeyValue {
  const key = value.trim();
  if (key === "") return failed("damaged", `${capital(subject)} is empty. Store it again.`);
  // oxlint-disable-next-line no-control-regex -- they are what a key must not have
  if (!/[\u0000-\u001f\u007f]/.test(key)) return { kind: "value", value: key };
  return failed("damaged", `${capital(subject)} has more than one line, or control characters. Store it again.`);
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
