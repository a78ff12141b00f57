/** The actions `status`, `capabilities` and `reload`, and the command `/lsp`. */
import type { CommandDefinition } from "@tau/extensions";
import { pluralise } from "@tau/protocol/surface";
import { showMenu, type MenuRow } from "../kit/show-menu.ts";
import { toVisibleLine } from "../kit/visible-text.ts";
import { type ActionCall, type ActionResult, openProjectServer } from "./actions.ts";
import { listFiles } from "./arguments.ts";
import type { LspClient } from "./client.ts";
import type { LspServers } from "./servers.ts";

const describe = ({ name, serverName, root, pid, isLoading, documents, idleMs }: LspClient): string => {
  const state = isLoading ? "loading" : idleMs < 1_000 ? "ready" : `idle for ${Math.round(idleMs / 1_000)} s`;
  const own = serverName === undefined ? "" : ` (${serverName})`;
  return `${name}${own} in ${root}: ${state}, ${pluralise(documents.list().length, "file")} open${pid === undefined ? "" : `, pid ${pid}`}`;
};

/** The servers that fit this project, a line each. */
const listProjectServers = (servers: LspServers): string[] =>
  servers
    .listFitting()
    .map(({ definition: { name, install }, program }) =>
      program === undefined ? `${name}: not installed (${install})` : `${name}: ${program}`,
    );

export async function showStatus({ session }: ActionCall): Promise<ActionResult> {
  const running = (await session.servers.listRunning()).map(({ client }) => describe(client));
  const failed = (await session.servers.listFailures()).map(
    ({ key, message }) => `${key}: could not be started: ${message}`,
  );
  const fitting = listProjectServers(session.servers);
  const sections = [
    running.length === 0 ? "No language server is running." : `Running:\n${running.join("\n")}`,
    ...(failed.length === 0 ? [] : [`Failed:\n${failed.join("\n")}`]),
    ...(fitting.length === 0 ? [] : [`For this project:\n${fitting.join("\n")}`]),
  ];
  return { text: sections.join("\n\n") };
}

export async function showCapabilities(call: ActionCall): Promise<ActionResult> {
  const client = await openProjectServer(call);
  const names = Object.keys(client.capabilities).flatMap((name) => (client.can(name) ? toVisibleLine(name, 100) : []));
  return { text: `${client.name}:\n${names.join("\n").slice(0, 8_000)}` };
}

/** Restarts the servers of a file, or all that run or have failed. */
export async function reload(call: ActionCall): Promise<ActionResult> {
  const { session, args } = call;
  const [file] = listFiles(args);
  const running = await session.servers.listRunning(file === undefined ? undefined : session.resolve(file));
  const failed = file === undefined ? await session.servers.listFailures() : [];
  const keys = [...running, ...failed].map(({ key }) => key);
  const names: string[] = [];
  for (const key of keys) names.push((await session.servers.restart(key))?.name ?? key);
  return { text: names.length === 0 ? "No language server is running." : `Restarted: ${names.join(", ")}.` };
}

/** `/lsp`: what runs, restart and stop. */
export const createMenuCommand = (servers: LspServers): CommandDefinition => ({
  description: "Language servers: what runs, restart and stop",
  async handler(_args, { ui }) {
    const getRows = async (): Promise<MenuRow[]> => {
      const restart = async (key: string): Promise<void> => {
        try {
          await servers.restart(key);
        } catch (error) {
          ui.notify((error as Error).message, "warning");
        }
      };
      const running = (await servers.listRunning()).map(({ key, client }): MenuRow => ({
        label: describe(client),
        actions: [
          { label: "Restart", run: () => restart(key) },
          { label: "Stop", run: () => servers.stop(key) },
        ],
      }));
      const failed = (await servers.listFailures()).map(({ key, message }): MenuRow => ({
        label: `${key}: could not be started`,
        details: [message],
        actions: [{ label: "Try again", run: () => restart(key) }],
      }));
      return [...running, ...failed];
    };
    if ((await getRows()).length > 0) return await showMenu(ui, { title: "Language servers", getRows });
    const title = "No language server is running. One starts when it is first asked about a file.";
    ui.notify([title, ...listProjectServers(servers)].join("\n"));
  },
});
