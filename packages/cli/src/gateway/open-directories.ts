/** How the gateway opens the sessions of a directory: as `tau` would there, with nobody at a terminal. */
import type { Host, HostOptions } from "@tau/harness/host";
import { parseSessionArgs } from "../start/args.ts";
import type { SessionOptions } from "../start/session-options.ts";
import type { Io } from "../commands/command.ts";
import { createDirectoryOpener } from "../hosting/open-directory.ts";

/**
 * A project that the user has not trusted stays so: nobody is asked. Sessions outlive the first signal, because the gateway
 * lets their runs come to an end.
 */
export async function createOpenDirectory(
  io: Io,
): Promise<(cwd: string, params?: Partial<HostOptions["params"]>) => Promise<Host>> {
  const opener = await createDirectoryOpener(defaultOptions(), io, { watch: true, surface: "print", asksTrust: false });
  return async (cwd, params = {}) => opener.openHost(cwd, await opener.openSettings(cwd), params);
}

function defaultOptions(): SessionOptions {
  const parsed = parseSessionArgs([]);
  if (parsed.kind !== "session") throw new Error("The options of a session without arguments are not known.");
  return parsed.options;
}
