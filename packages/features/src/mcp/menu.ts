/** `/mcp`: the servers of a session, their states and tools, and what can be done to them. */
import type { CommandDefinition, ExtensionCommandContext, FeaturePlace } from "@tau/extensions";
import { getErrorMessage } from "@tau/ai/internal";
import { type MenuAction, type MenuRow, showMenu } from "../kit/show-menu.ts";
import { type McpEntry, type McpExposure, mcpExposures } from "./entry.ts";
import { formatCommand, formatSource } from "./describe-entry.ts";
import { removeLogin } from "./oauth-store.ts";
import { formatState } from "./program.ts";
import { changeEntry, type Directories, type EntryChange, getServerFile } from "./server-file.ts";
import type { McpServers, McpServerView } from "./servers.ts";
import type { SignInInteraction } from "./sign-in.ts";
import { signInTo } from "./sign-in-to.ts";
import { toVisible } from "../kit/visible-text.ts";

interface MenuParts extends Directories, Pick<FeaturePlace, "openAuth"> {
  /** Reads the configuration again. */
  configure(): Promise<void>;
}

export const createMenuCommand = (servers: McpServers, parts: MenuParts): CommandDefinition => ({
  description: "Servers of MCP: their state, tools and settings",
  async handler(_args, context) {
    if (servers.list().length === 0) {
      return context.ui.notify("There are no MCP servers. Add one: tau mcp add NAME -- COMMAND ...");
    }
    await showMenu(context.ui, {
      title: "MCP servers",
      getRows: () => servers.list().map((view) => toRow(view, servers, parts, context)),
    });
  },
});

function toRow(view: McpServerView, servers: McpServers, parts: MenuParts, context: ExtensionCommandContext): MenuRow {
  const { entry, state, definitions, withheld, stderr } = view;
  const tools = definitions?.tools ?? [];
  const { target, name } = entry;
  const { ui } = context;
  const failure = state.kind === "failed" ? [toVisible(state.failure.message)] : [];
  const last = state.kind === "failed" ? stderr.trim().split("\n").slice(-5).filter(Boolean) : [];
  const change = async (scope: "user" | "project", entryChange: EntryChange) => {
    try {
      const path = entry.source.scope === scope ? entry.source.path : getServerFile(parts, scope);
      await changeEntry(parts, { scope, path, name }, () => entryChange);
      await parts.configure();
    } catch (error) {
      ui.notify(getErrorMessage(error), "error");
    }
  };
  const connect = async (work: Promise<{ kind: string; failure?: { message: string } }>) => {
    const { failure: problem } = await work;
    if (problem) ui.notify(problem.message, "warning");
  };
  const { scope: from } = entry.source;
  // Choices about a server of a package are in the user's file. What an extension registers is the extension's.
  const own = from === "package" ? "user" : from === "extension" ? undefined : from;
  const actions: MenuAction[] = [
    ...(entry.isEnabled
      ? [
          state.kind === "ready"
            ? { label: "Restart", run: () => connect(servers.restart(name)) }
            : { label: "Connect", run: () => connect(servers.connect(name, { asksAgain: true })) },
          { label: "Tools", run: () => ui.notify(listTools(view)) },
        ]
      : []),
    ...(entry.isEnabled && target.type !== "stdio" && target.oauth !== false
      ? [
          { label: "Sign in", run: () => signInHere(name, servers, parts, context) },
          { label: "Sign out", run: () => signOutHere(entry, servers, parts, context) },
        ]
      : []),
    ...(own
      ? [{ label: entry.isEnabled ? "Turn off" : "Turn on", run: () => change(own, { enabled: !entry.isEnabled }) }]
      : []),
    ...(own === "user"
      ? [
          {
            label: `${entry.isEnabled ? "Turn off" : "Turn on"} in this project`,
            run: () => change("project", { enabled: !entry.isEnabled }),
          },
        ]
      : []),
    ...(own
      ? [
          {
            label: `Exposure: ${entry.exposure}`,
            run: () => chooseExposure(context, entry.exposure, (exposure) => change(own, { exposure })),
          },
        ]
      : []),
  ];
  return {
    label: `${name}: ${formatState(state)}${tools.length > 0 ? `, ${tools.length} tools` : ""}`,
    details: [
      `${target.type === "stdio" ? formatCommand(target) : toVisible(target.url)}, from ${formatSource(entry.source)}`,
      ...failure,
      ...last.map((line) => `| ${toVisible(line)}`),
      ...(withheld.length > 0 ? [`Changed and not accepted: ${withheld.map(toVisible).join(", ")}`] : []),
    ],
    actions,
  };
}

async function signInHere(
  name: string,
  servers: McpServers,
  { openAuth }: MenuParts,
  { ui }: ExtensionCommandContext,
): Promise<void> {
  const outcome = await signInTo(name, { servers, openAuth, interaction: createInteraction(ui) });
  if (outcome.kind === "failed") return ui.notify(outcome.failure.message, "warning");
  const connected = await servers.restart(name);
  if (connected.kind === "failed") ui.notify(connected.failure.message, "warning");
  else ui.notify(`You are signed in to the MCP server ${name}.`);
}

async function signOutHere(
  entry: McpEntry,
  servers: McpServers,
  { openAuth }: MenuParts,
  { ui }: ExtensionCommandContext,
): Promise<void> {
  const wasSignedIn = await removeLogin(await openAuth(), entry);
  await servers.stop(entry.name);
  ui.notify(
    wasSignedIn
      ? `You are signed out of the MCP server ${entry.name}.`
      : `You were not signed in to the MCP server ${entry.name}.`,
  );
}

const createInteraction = (ui: ExtensionCommandContext["ui"]): SignInInteraction => ({
  notify(event) {
    if (event.type === "auth_url") ui.notify(`Open this in a browser:\n${event.url}`);
    else if (event.type === "message") ui.notify(event.text);
  },
  paste: (signal) => ui.input("Waiting for the browser. Or paste the address that it shows at the end", "", { signal }),
  confirm: (title, lines) => ui.confirm(title, lines.join("\n")),
});

const listTools = ({ definitions, entry }: McpServerView): string => {
  const names = (definitions?.tools ?? []).map(({ name }) => toVisible(name));
  return names.length === 0
    ? `No tools of ${entry.name} are known. Connect it first.`
    : `${entry.name}: ${names.join(", ")}`;
};

async function chooseExposure(
  { ui }: ExtensionCommandContext,
  current: McpExposure,
  choose: (exposure: McpExposure) => Promise<void>,
): Promise<void> {
  const answer = await ui.select(`How the model reaches its tools (now: ${current})`, [...mcpExposures]);
  const exposure = mcpExposures.find((each) => each === answer);
  if (exposure) await choose(exposure);
}
