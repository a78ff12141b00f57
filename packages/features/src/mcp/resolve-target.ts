/** Fills in the values of a target: variables, and in the user's own file commands that print a value. */
import { keyCommands } from "@tau/config/internal";
import type { HttpTarget, McpEntry, McpOAuth, McpTarget, StdioTarget } from "./entry.ts";
import { fillVariables } from "./variables.ts";

interface ResolveTargetOptions {
  env: Readonly<Record<string, string | undefined>>;
  /** Runs a command and returns what it prints. Default: as keys in `models.json` are. */
  run?: typeof keyCommands;
}

type ResolvedTarget =
  | { readonly kind: "resolved"; readonly target: McpTarget }
  /** The message is a sentence without values. */
  | { readonly kind: "failed"; readonly message: string };

/** Only called after the question about the entry was answered: values may be secrets. */
export async function resolveTarget(
  { name, source, target }: Pick<McpEntry, "name" | "source" | "target">,
  { env, run = keyCommands }: ResolveTargetOptions,
): Promise<ResolvedTarget> {
  let failure: string | undefined;
  const fill = async (text: string, subject: string): Promise<string> => {
    if (source.scope === "user" && text.startsWith("!")) {
      const printed = await run(text.slice(1).trim(), `${subject} of the MCP server ${name}`);
      if (printed.kind === "value") return printed.value;
      failure ??= printed.failure.message;
      return "";
    }
    const filled = fillVariables(text, env);
    if (filled.kind === "filled") return filled.text;
    failure ??= `The MCP server ${name} needs the variable ${filled.variable}, which is not set. Set it, or write a default: \${${filled.variable}:-…}.`;
    return "";
  };
  const resolved = target.type === "stdio" ? await fillStdio(target, fill) : await fillHttp(target, fill);
  if (failure !== undefined) return { kind: "failed", message: failure };
  if (resolved.type !== "stdio" && !URL.canParse(resolved.url))
    return {
      kind: "failed",
      message: `The address of the MCP server ${name} is not valid once its variables are filled in.`,
    };
  return { kind: "resolved", target: resolved };
}

type Fill = (text: string, subject: string) => Promise<string>;

async function fillEach(values: Readonly<Record<string, string>>, fill: Fill): Promise<Record<string, string>> {
  const filled: [string, string][] = [];
  for (const [name, text] of Object.entries(values)) filled.push([name, await fill(text, name)]);
  return Object.fromEntries(filled);
}

async function fillStdio(target: StdioTarget, fill: Fill): Promise<StdioTarget> {
  const args: string[] = [];
  for (const [index, text] of target.args.entries()) args.push(await fill(text, `argument ${index + 1}`));
  return {
    ...target,
    command: await fill(target.command, "the command"),
    args,
    env: await fillEach(target.env, fill),
    ...(target.cwd !== undefined && { cwd: await fill(target.cwd, "the directory") }),
  };
}

async function fillHttp(target: HttpTarget, fill: Fill): Promise<HttpTarget> {
  const oauth: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(target.oauth || {}))
    oauth[name] = typeof value === "string" ? await fill(value, `oauth.${name}`) : value;
  return {
    ...target,
    url: await fill(target.url, "the address"),
    headers: await fillEach(target.headers, fill),
    ...(target.oauth && { oauth: oauth as McpOAuth }),
  };
}
