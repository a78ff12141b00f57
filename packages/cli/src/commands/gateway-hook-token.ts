/** `tau gateway hook-token`: what a program shows that calls a webhook. */
import { systemClock, systemIds } from "@tau/ai";
import { findHookToken, openDevices } from "@tau/gateway";
import { openSettings } from "../hosting/open-settings.ts";
import { getAgentDir } from "../hosting/agent-dir.ts";
import type { Io } from "./command.ts";
import { UsageError } from "../process/errors.ts";
import type { CommandArgs } from "./usage.ts";

export async function printHookToken(args: CommandArgs, io: Io): Promise<void> {
  const [name = ""] = args.positionals;
  const agentDir = getAgentDir(io);
  const settings = await openSettings({ cwd: io.cwd, agentDir });
  try {
    const { hooks } = settings.get().gateway;
    const log = (line: string) => io.err(`tau: ${line}\n`);
    const devices = await openDevices({ agentDir, clock: systemClock, ids: systemIds, log });
    const found = findHookToken(hooks, name, () => devices.getOwnToken());
    if (found.kind === "digest") {
      throw new UsageError(
        "arguments",
        `The settings have only the SHA-256 of the token of ${name}, so it is known to you alone.`,
      );
    }
    if (found.kind === "none") {
      throw new UsageError(
        "arguments",
        `There is no webhook ${JSON.stringify(name)}. To open it: tau config set gateway.hooks.${name}.prompt "TEXT"`,
      );
    }
    io.out(`${found.token}\n`);
  } finally {
    await settings.close();
  }
}
