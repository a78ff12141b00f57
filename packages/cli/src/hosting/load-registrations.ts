/** Loads what extensions add to lists of the program: options to `tau --help`, models to `tau models`. */
import { join, resolve } from "node:path";
import type { ExtensionProblem, ListedRegistrations } from "@tau/extensions";
import { getAgentDir } from "./agent-dir.ts";
import type { SessionOptions } from "../start/session-options.ts";
import type { Io } from "../commands/command.ts";
import { mayHaveExtensions } from "../start/may-have-extensions.ts";

export type ChosenExtensions = Pick<SessionOptions, "extensions" | "noExtensions">;

export const allExtensions: ChosenExtensions = { extensions: [], noExtensions: false };

/** Nothing is fetched. What is wrong with an extension is reported on standard error. */
export async function loadRegistrations(io: Io, options: ChosenExtensions): Promise<readonly ListedRegistrations[]> {
  const { extensions, problems } = await checkRegistrations(io, options);
  for (const { extension, message } of problems) io.err(`tau: ${extension}: ${message}\n`);
  return extensions;
}

/** Like `loadRegistrations`, with what is wrong as a value. */
export async function checkRegistrations(
  io: Io,
  options: ChosenExtensions,
): Promise<{ extensions: readonly ListedRegistrations[]; problems: readonly ExtensionProblem[] }> {
  const { extensions: named, noExtensions } = options;
  const { cwd } = io;
  const agentDir = getAgentDir(io);
  const places = [agentDir, join(cwd, ".tau"), join(cwd, ".pi")];
  if (named.length === 0 && (noExtensions || !mayHaveExtensions(places))) return { extensions: [], problems: [] };
  io.claimOutput?.();
  const [{ existsNamed, listRegistrations }, { openSettings }, { loadSharedModule }] = await Promise.all([
    import("@tau/extensions"),
    import("@tau/config/trust"),
    import("./shared-modules.ts"),
  ]);
  const settings = await openSettings({ cwd, agentDir, watch: false });
  const paths = named.filter((path) => existsNamed(path, { cwd, agentDir })).map((path) => resolve(cwd, path));
  const params = { paths, discovers: !noExtensions, loadShared: loadSharedModule };
  const listed = await listRegistrations(params, { cwd, agentDir, settings });
  await settings.close();
  return listed;
}
