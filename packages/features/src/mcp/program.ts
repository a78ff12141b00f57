/** `tau mcp`: servers on the command line. */
import type { ExtensionAPI, ExtensionContext, ProgramContext } from "@tau/extensions";
import { HarnessError } from "@tau/protocol";
import { removeAnswer, writeAnswer } from "./answers.ts";
import { createServers } from "./create-servers.ts";
import { describeStart, formatCommand, formatSource } from "./describe-entry.ts";
import type { McpConfiguration, McpEntry } from "./entry.ts";
import { removeLogin } from "./oauth-store.ts";
import { parseEntries } from "./parse-entries.ts";
import { readEntries } from "./read-entries.ts";
import { changeEntry, getServerFile } from "./server-file.ts";
import type { SignInInteraction } from "./sign-in.ts";
import { signInTo } from "./sign-in-to.ts";
import { type McpServers, type McpServerView, needsAnswer } from "./servers.ts";
import { toVisible } from "../kit/visible-text.ts";

export async function runMcpCommand(context: ProgramContext): Promise<"failed" | void> {
  switch (context.subcommand) {
    case "add":
      return await add(context);
    case "remove":
      return await remove(context);
    case "login":
      return await login(context);
    case "logout":
      return await logout(context);
    case "test":
      return await connectAndShow(context, context.positionals[0]);
    default:
      return await connectAndShow(context, undefined);
  }
}

const getScope = ({ has }: ProgramContext): "user" | "project" => (has("local") ? "project" : "user");

async function add(context: ProgramContext): Promise<void> {
  const [name = ""] = context.positionals;
  const scope = getScope(context);
  const path = getServerFile(context, scope);
  const written = toWrittenEntry(context);
  const { entries, problems } = parseEntries([{ source: { scope, path }, servers: { [name]: written } }]);
  const [entry] = entries;
  if (!entry) throw new HarnessError("invalid_input", problems[0]?.message ?? "This is not a server.");
  await changeEntry(context, { scope, path, name }, (before) => {
    if (before === undefined) return written;
    throw new HarnessError(
      "invalid_input",
      `There is a server ${name} in ${path} already. Remove it first: tau mcp remove ${name}`,
    );
  });
  context.out(`Added ${name} to ${path}.\n`);
  await allow(context, entry);
}

/** The entry as it is written into the file. Pure. */
function toWrittenEntry({ positionals, values, value }: Pick<ProgramContext, "positionals" | "values" | "value">) {
  const [, command, ...args] = positionals;
  const url = value("url");
  if ((command === undefined) === (url === undefined)) {
    const usage = "tau mcp add NAME -- COMMAND ..., or tau mcp add NAME --url URL";
    throw new HarnessError("invalid_input", `A server has a command or an address: ${usage}`);
  }
  if (url === undefined) {
    if (values("header").length > 0 || value("bearer-token-env-var") !== undefined)
      throw new HarnessError("invalid_input", "--header and --bearer-token-env-var are for a server with --url.");
    const env = Object.fromEntries(values("env").map((text) => splitAt(text, "=", "--env NAME=VALUE")));
    return { command, ...(args.length > 0 && { args }), ...(Object.keys(env).length > 0 && { env }) };
  }
  if (values("env").length > 0) throw new HarnessError("invalid_input", "--env is for a server with a command.");
  const token = value("bearer-token-env-var");
  const headers = Object.fromEntries([
    ...values("header").map((text) => splitAt(text, ":", '--header "NAME: VALUE"')),
    ...(token === undefined ? [] : [["Authorization", `Bearer \${${token}}`]]),
  ]) as Record<string, string>;
  return { url, ...(Object.keys(headers).length > 0 && { headers }) };
}

function splitAt(text: string, separator: string, form: string): [name: string, value: string] {
  const at = text.indexOf(separator);
  if (at <= 0) throw new HarnessError("invalid_input", `${JSON.stringify(text)} is not of the form ${form}.`);
  return [text.slice(0, at).trim(), separator === ":" ? text.slice(at + 1).trim() : text.slice(at + 1)];
}

/** Asks the question that would be asked before the first start. */
async function allow(context: ProgramContext, entry: McpEntry): Promise<void> {
  if (!needsAnswer(entry)) return;
  const { name } = entry;
  const { out, err, ask, has, settings } = context;
  out(
    `${describeStart(entry, settings.get().sandbox.network)
      .map((line) => `  ${line}\n`)
      .join("")}`,
  );
  if (!has("yes") && !ask) return err(`It starts once you have allowed it in a terminal: tau mcp test ${name}\n`);
  const answer = has("yes") ? "y" : await ask!(`Start it when it is used? [y/N] `);
  const isAllowed = isYes(answer);
  if (isAllowed) await writeAnswer(context, entry, { isAllowed });
  else out(`It is not started before you allow it: tau mcp test ${name}\n`);
}

const isYes = (answer: string | undefined): boolean => /^y(es)?$/i.test(answer?.trim() ?? "");

async function remove(context: ProgramContext): Promise<void> {
  const [name = ""] = context.positionals;
  const scope = getScope(context);
  const path = getServerFile(context, scope);
  const known = await readEntries({ ...context, isProjectTrusted: true });
  await changeEntry(context, { scope, path, name }, (before) => {
    if (before !== undefined) return undefined;
    const elsewhere = known.entries.find((entry) => entry.name === name);
    const where = elsewhere ? ` There is one in ${formatSource(elsewhere.source)}.` : "";
    throw new HarnessError("invalid_input", `There is no server ${name} in ${path}.${where}`);
  });
  for (const entry of known.entries) {
    if (entry.name !== name || entry.source.path !== path) continue;
    await removeAnswer(context, entry);
    if (entry.target.type !== "stdio") await removeLogin(await context.openAuth(), entry);
  }
  context.out(`Removed ${name} from ${path}.\n`);
}

async function login(context: ProgramContext): Promise<"failed" | void> {
  const [name = ""] = context.positionals;
  const configuration = await readConfiguration(context, name);
  const { out, err, ask, openAuth, signal } = context;
  const interaction: SignInInteraction = {
    notify(event) {
      if (event.type === "auth_url") err(`Open this in a browser:\n  ${event.url}\n`);
      else if (event.type === "message") err(`${event.text}\n`);
    },
    ...(ask && {
      paste: (stop: AbortSignal) => ask("Or paste the address that the browser shows at the end: ", { signal: stop }),
      confirm: async (title: string, lines: readonly string[]) =>
        isYes(await ask(`${title}\n${lines.map((line) => `  ${line}\n`).join("")}[y/N] `)),
    }),
  };
  const outcome = await context.withSession(async (tau: ExtensionAPI, session: ExtensionContext) => {
    const servers = createServers(tau, () => session, context);
    await servers.configure(configuration);
    try {
      return await signInTo(name, { servers, openAuth, interaction, signal });
    } finally {
      servers.close();
    }
  });
  if (outcome.kind === "done") return out(`You are signed in to the MCP server ${name}.\n`);
  err(`tau mcp: ${outcome.failure.message}\n`);
  return "failed";
}

async function logout(context: ProgramContext): Promise<void> {
  const [name = ""] = context.positionals;
  const { entries } = await readConfiguration(context, name);
  const entry = entries.find((each) => each.name === name)!;
  const wasSignedIn = await removeLogin(await context.openAuth(), entry);
  const what = wasSignedIn ? "You are signed out of" : "You were not signed in to";
  context.out(`${what} the MCP server ${name}.\n`);
}

/** Throws if there is no server of this name. */
async function readConfiguration(context: ProgramContext, name: string | undefined): Promise<McpConfiguration> {
  const configuration = await readEntries({ ...context, isProjectTrusted: context.settings.isProjectTrusted });
  const { entries } = configuration;
  if (name === undefined || entries.some((entry) => entry.name === name)) return configuration;
  const names = entries.map((entry) => entry.name).join(", ") || "none";
  throw new HarnessError("invalid_input", `There is no server ${name}. Servers here: ${names}.`);
}

/** Connects one server, or all. */
async function connectAndShow(context: ProgramContext, name: string | undefined): Promise<"failed" | void> {
  const { has, out, err, signal } = context;
  const configuration = await readConfiguration(context, name);
  const { entries, problems } = configuration;
  if (entries.length === 0 && problems.length === 0 && !has("json")) {
    return out("There are no servers. Add one: tau mcp add NAME -- COMMAND ...\n");
  }
  const views = await context.withSession(async (tau: ExtensionAPI, session: ExtensionContext) => {
    const servers = createServers(tau, () => session, context);
    await servers.configure(configuration);
    const wanted = servers.list().filter(({ entry }) => entry.isEnabled && (name === undefined || entry.name === name));
    await Promise.all(wanted.map(({ entry }) => servers.connect(entry.name, { signal, asksAgain: true })));
    const shown = servers.list().filter(({ entry }) => name === undefined || entry.name === name);
    await stopAll(servers);
    return shown;
  });
  if (has("json")) out(`${JSON.stringify({ servers: views.map(toJson), problems })}\n`);
  else {
    out(views.map((view) => formatView(view, name !== undefined)).join(""));
    for (const { source, message, name: wrong } of problems)
      err(`${wrong === undefined ? "" : `${wrong}, `}${formatSource(source)}: ${message}\n`);
  }
  const hasFailed = problems.length > 0 || views.some(({ state }) => state.kind === "failed");
  return hasFailed ? "failed" : undefined;
}

async function stopAll(servers: McpServers): Promise<void> {
  await Promise.all(servers.list().map(({ entry }) => servers.stop(entry.name)));
  servers.close();
}

function formatView({ entry, state, definitions, stderr }: McpServerView, isLong: boolean): string {
  const { target } = entry;
  const place = target.type === "stdio" ? formatCommand(target) : toVisible(target.url);
  const tools = definitions?.tools ?? [];
  const lines = [`${entry.name}: ${formatState(state)}`, `  ${place}, from ${formatSource(entry.source)}`];
  if (state.kind === "failed") {
    lines.push(`  ${toVisible(state.failure.message)}`);
    const last = stderr.trim().split("\n").slice(-5).filter(Boolean);
    lines.push(...last.map((line) => `  | ${toVisible(line)}`));
  }
  if (tools.length > 0 && !isLong) lines.push(`  tools: ${tools.map((tool) => toVisible(tool.name)).join(", ")}`);
  if (isLong) lines.push(...tools.map((tool) => `  ${toVisible(`${tool.name}: ${firstLine(tool.description)}`)}`));
  return `${lines.join("\n")}\n`;
}

export const formatState = (state: McpServerView["state"]): string =>
  ({ disabled: "turned off", idle: "not started", starting: "starting", ready: "connected", failed: "failed" })[
    state.kind
  ];

const firstLine = (text = ""): string => text.trim().split("\n")[0]!.slice(0, 200);

const toJson = ({ entry, state, definitions }: McpServerView) => ({
  name: entry.name,
  source: entry.source,
  state: state.kind,
  ...(state.kind === "failed" && { error: state.failure }),
  tools: (definitions?.tools ?? []).map(({ name, description }) => ({ name, description })),
});
