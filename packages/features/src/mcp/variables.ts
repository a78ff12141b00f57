/** `${NAME}` and `${NAME:-default}` in the values of an entry. Pure. */
import type { McpTarget } from "./entry.ts";

const pattern = /\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g;

type FilledText =
  | { readonly kind: "filled"; readonly text: string }
  /** A variable without a default that is not set. */
  | { readonly kind: "missing"; readonly variable: string };

/** Fills in variables. One that is empty counts as not set. */
export function fillVariables(text: string, env: Readonly<Record<string, string | undefined>>): FilledText {
  let missing: string | undefined;
  const filled = text.replaceAll(pattern, (_whole, name: string, fallback: string | undefined) => {
    const value = (Object.hasOwn(env, name) && env[name]) || fallback;
    if (value === undefined) missing ??= name;
    return value ?? "";
  });
  return missing === undefined ? { kind: "filled", text: filled } : { kind: "missing", variable: missing };
}

/** Lists the variables of texts, each once. */
export const listVariables = (texts: readonly string[]): string[] => [
  ...new Set(texts.flatMap((text) => [...text.matchAll(pattern)].map(([, name]) => name!))),
];

/** Lists all texts of a target in which variables are filled in. */
export function listTexts(target: McpTarget): string[] {
  if (target.type === "stdio") {
    const { command, args, env, cwd } = target;
    return [command, ...args, ...Object.values(env), ...(cwd === undefined ? [] : [cwd])];
  }
  const { url, headers, oauth } = target;
  const texts = oauth ? Object.values(oauth).filter((value) => typeof value === "string") : [];
  return [url, ...Object.values(headers), ...texts];
}
