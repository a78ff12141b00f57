/** Turns the content of `mcp.json` files into entries. Pure but for the hash. */
import { createHash } from "node:crypto";
import { isRecord } from "@tau/ai/internal";
import { flag, list, oneOf, optional, parseFields, text, wholeNumber } from "@tau/config/fields";
import { decimal, map } from "@tau/config/internal";
import type { SandboxNetwork } from "@tau/sandbox";
import {
  type HttpTarget,
  type McpConfiguration,
  type McpEntry,
  type McpEntryProblem,
  mcpExposures,
  type McpOAuth,
  type McpSource,
  type McpTarget,
  type StdioTarget,
} from "./entry.ts";
import { isServerName, maxNameLength } from "./server-name.ts";
import { listTexts, listVariables } from "./variables.ts";

/** The servers of one file, package or extension: what stands under `mcpServers`. */
export interface McpServerList {
  readonly source: McpSource;
  readonly servers: unknown;
}

const defaultTimeoutSeconds = 60;
/** A day. */
const maxTimeoutSeconds = 86_400;

const exposure = oneOf(...mcpExposures);
const texts = map(text);

const fields = {
  type: optional(oneOf("stdio", "http", "streamable-http", "sse")),
  command: optional(text),
  args: optional(list(text)),
  env: optional(texts),
  cwd: optional(text),
  url: optional(text),
  headers: optional(texts),
  enabled: optional(flag),
  // Other programs write this one.
  disabled: optional(flag),
  description: optional(text),
  timeout: optional(decimal({ min: 0.001, unit: "seconds" })),
  exposure: optional(exposure),
  toolExposure: optional(map(exposure)),
  trusted: optional(flag),
};

const oauthFields = {
  clientId: optional(text),
  clientSecret: optional(text),
  callbackPort: optional(wholeNumber({ min: 1, unit: "ports" })),
  callbackUrl: optional(text),
  scope: optional(text),
  clientName: optional(text),
  clientRegistration: optional(text),
  authServerMetadataUrl: optional(text),
};

const sandboxFields = { allowedPaths: optional(list(text)) };

type Values = Extract<ReturnType<typeof parseFields<typeof fields>>, { kind: "parsed" }>["values"];

/** The part of an entry that can be changed for a server of the same name from elsewhere; see `parseEntries`. */
type Overlay = Pick<McpEntry, "name"> & Partial<Pick<McpEntry, "isEnabled" | "exposure" | "toolExposure">>;

type Parsed =
  | { readonly kind: "entry"; readonly entry: McpEntry }
  | { readonly kind: "overlay"; readonly overlay: Overlay }
  | { readonly kind: "problem"; readonly message: string };

/**
 * Combines lists in the order of their precedence, the first of a name wins. An entry without a target in a project changes
 * `enabled`, `exposure` and `toolExposure` of the user's or a package's server of that name, one of the user's file those of a
 * package's server.
 */
export function parseEntries(lists: readonly McpServerList[]): McpConfiguration {
  const entries = new Map<string, McpEntry>();
  const overlays: { overlay: Overlay; source: McpSource }[] = [];
  const problems: McpEntryProblem[] = [];
  for (const { source, servers } of lists) {
    if (servers === undefined) continue;
    if (!isRecord(servers)) {
      problems.push({ source, message: '"mcpServers" has to be an object with servers by name.' });
      continue;
    }
    for (const [name, value] of Object.entries(servers)) {
      const parsed = parseEntry(name, value, source);
      if (parsed.kind === "problem") problems.push({ name, source, message: parsed.message });
      else if (parsed.kind === "overlay") overlays.push({ overlay: parsed.overlay, source });
      else if (!entries.has(name)) entries.set(name, parsed.entry);
    }
  }
  // The list of highest precedence is applied last.
  for (const { overlay, source } of overlays.toReversed()) {
    const { name } = overlay;
    const entry = entries.get(name);
    if (entry && mayChange(source, entry.source)) entries.set(name, { ...entry, ...overlay });
    else if (!entry) problems.push({ name, source, message: noTarget });
  }
  return { entries: [...entries.values()], problems };
}

const isFile = ({ scope }: McpSource): boolean => scope === "user" || scope === "project";

/** Whether an entry without a target applies to an entry. */
const mayChange = (from: McpSource, { scope }: McpSource): boolean =>
  scope === "package" || (scope === "user" && from.scope === "project");

const noTarget = 'It needs a "command" or a "url".';

function parseEntry(name: string, value: unknown, source: McpSource): Parsed {
  const invalid = (message: string): Parsed => ({ kind: "problem", message });
  if (!isServerName(name))
    return invalid(`Its name has to be 1 to ${maxNameLength} characters, without control characters.`);
  const parsed = parseFields(fields, value);
  if (parsed.kind === "wrong") return invalid(parsed.message);
  const { values } = parsed;
  const { command, url, type, timeout = defaultTimeoutSeconds } = values;
  const isUsers = source.scope === "user";
  if (command === undefined && url === undefined && type === undefined && isFile(source))
    return { kind: "overlay", overlay: { name, ...getChoices(values) } };
  if (timeout > maxTimeoutSeconds) return invalid(`"timeout" is in seconds, and at most ${maxTimeoutSeconds}.`);
  const target = parseTarget(values, value as Record<string, unknown>);
  if (typeof target === "string") return invalid(target);
  if (!isUsers) {
    const forbidden = findForbidden(values, target);
    if (forbidden !== undefined) return invalid(`${forbidden} is accepted only in your own mcp.json.`);
  }
  const { isEnabled = true, exposure = "codemode", toolExposure = {} } = getChoices(values);
  const entry: McpEntry = {
    name,
    source,
    hash: hashEntry(name, source, target),
    target,
    isEnabled,
    ...(values.description !== undefined && { description: values.description }),
    timeoutMs: Math.ceil(timeout * 1_000),
    exposure,
    toolExposure,
    isTrusted: values.trusted ?? false,
    variables: listVariables(listTexts(target)),
  };
  return { kind: "entry", entry };
}

const getChoices = ({ enabled, disabled, exposure, toolExposure }: Values): Omit<Overlay, "name"> => ({
  ...((enabled !== undefined || disabled !== undefined) && { isEnabled: enabled ?? !disabled }),
  ...(exposure && { exposure }),
  ...(toolExposure && { toolExposure: Object.fromEntries(toolExposure) }),
});

/** A text says what is wrong. */
function parseTarget(values: Values, raw: Record<string, unknown>): McpTarget | string {
  const { command, url, type } = values;
  if (command !== undefined && url !== undefined) return 'It has a "command" and a "url". Leave one of them out.';
  if (type === "stdio" || (type === undefined && command !== undefined)) return parseStdio(values, raw);
  return parseHttp(values, raw);
}

function parseStdio({ command, args = [], env, cwd }: Values, raw: Record<string, unknown>): StdioTarget | string {
  if (command === undefined || command.trim() === "") return 'It needs a "command".';
  const wrong = [...(env?.keys() ?? [])].find((name) => !/^[A-Za-z_]\w*$/.test(name));
  if (wrong !== undefined) return `${JSON.stringify(wrong)} in "env" is not the name of a variable.`;
  const sandbox = parseSandbox(raw["sandbox"]);
  if (typeof sandbox === "string") return sandbox;
  return {
    type: "stdio",
    command,
    args,
    env: Object.fromEntries(env ?? []),
    ...(cwd !== undefined && { cwd }),
    ...(sandbox !== undefined && { sandbox }),
  };
}

function parseSandbox(value: unknown): StdioTarget["sandbox"] | string {
  if (value === undefined || value === null || value === true) return undefined;
  if (value === false) return false;
  const parsed = parseFields(sandboxFields, value);
  if (parsed.kind === "wrong") return `"sandbox" is not valid. ${parsed.message}`;
  const network = parseNetwork((value as Record<string, unknown>)["network"]);
  if (network === "wrong") return '"sandbox.network" has to be "none", "all", or a list of hosts.';
  const { allowedPaths } = parsed.values;
  return { ...(network && { network }), ...(allowedPaths && { allowedPaths }) };
}

/** Reads the form of the settings of the sandbox, or only the hosts. */
function parseNetwork(value: unknown): SandboxNetwork | undefined | "wrong" {
  if (value === undefined || value === null) return undefined;
  if (value === "none" || value === "all") return value;
  const hosts: unknown = isRecord(value) ? value["allow"] : value;
  const isHosts = Array.isArray(hosts) && hosts.every((host) => typeof host === "string");
  return isHosts ? { allow: hosts as string[] } : "wrong";
}

function parseHttp({ type, url, headers }: Values, raw: Record<string, unknown>): HttpTarget | string {
  if (url === undefined) return type === undefined ? noTarget : 'It needs a "url".';
  const wrongUrl = checkUrl(url);
  if (wrongUrl !== undefined) return wrongUrl;
  const wrong = [...(headers?.keys() ?? [])].find((name) => !/^[\w!#$%&'*+.^`|~-]+$/.test(name));
  if (wrong !== undefined) return `${JSON.stringify(wrong)} in "headers" is not the name of a header.`;
  const oauth = parseOAuth(raw["oauth"]);
  if (typeof oauth === "string") return oauth;
  return {
    type: type === "sse" ? "sse" : type === undefined ? "auto" : "http",
    url,
    headers: Object.fromEntries(headers ?? []),
    ...(oauth !== undefined && { oauth }),
  };
}

/** Variables may stand for any part of an address. */
function checkUrl(url: string): string | undefined {
  const filled = url.replaceAll(/\$\{[^}]*\}/g, (_whole, index: number) => (index === 0 ? "https://x" : "1"));
  if (!URL.canParse(filled) || !/^https?:$/.test(new URL(filled).protocol))
    return '"url" has to be an address that begins with http:// or https://.';
  const { username, password } = new URL(filled);
  return username || password ? '"url" has a name or password in it. Use "headers" for them.' : undefined;
}

function parseOAuth(value: unknown): false | McpOAuth | undefined | string {
  if (value === undefined || value === null || value === true) return undefined;
  if (value === false) return false;
  const parsed = parseFields(oauthFields, value);
  return parsed.kind === "wrong" ? `"oauth" is not valid. ${parsed.message}` : parsed.values;
}

/** Names what only the user's own file may have. */
function findForbidden({ trusted }: Values, target: McpTarget): string | undefined {
  if (trusted) return '"trusted"';
  if (target.type === "stdio" && target.sandbox === false) return '"sandbox": false';
  const hasCommand = listTexts(target).some((value) => value.startsWith("!"));
  return hasCommand ? "A value that is a command (!…)" : undefined;
}

/** The target is parsed, so that what the file says differently and means the same has the same hash. */
function hashEntry(name: string, { scope, path }: McpSource, target: McpTarget): string {
  return createHash("sha256")
    .update(JSON.stringify([name, scope, path, sortKeys(target)]))
    .digest("hex");
}

/** A copy whose JSON does not depend on the order in which names were written. */
export function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, each]) => [key, sortKeys(each)]),
  );
}
