import { systemIds } from "@tau/ai";
import { HarnessError } from "@tau/protocol";
import { type ExtensionPlace, type ExtensionSource, findExtensions } from "@tau/extensions";
import { writeExtensionTrust } from "@tau/config/trust";
import { ask, askAtStart } from "../process/ask.ts";
import type { Io } from "../commands/command.ts";

/** Asks once about extensions that npm has installed for the user, and stores the answer with their content. */
export async function askGlobalPackages(io: Io, { cwd, agentDir, settings }: ExtensionPlace): Promise<void> {
  const { extensions } = await findExtensions({ cwd, agentDir, settings });
  const waiting = extensions.flatMap(({ source, state }) =>
    state === "pending" && source.id.startsWith("npm-global:") ? [source] : [],
  );
  if (waiting.length === 0) return;
  await askAtStart(io, () => askAbout(io, waiting, agentDir));
}

async function askAbout(io: Io, waiting: readonly ExtensionSource[], agentDir: string): Promise<void> {
  const names = waiting.map(({ name }) => `  ${JSON.stringify(name)}\n`).join("");
  io.err(`npm has installed packages with extensions, which do not run before you allow it:\n${names}`);
  const answer = await ask(io, "Run them isolated, with the permissions of your policy? [y/N] ");
  if (answer === undefined) throw new HarnessError("aborted", "Interrupted.");
  const to = /^y(es)?$/i.test(answer.trim()) ? "acknowledged" : "killed";
  for (const source of waiting) {
    const change = { to, operator: "person", reason: "asked at the start" } as const;
    await writeExtensionTrust(source, change, { agentDir, ids: systemIds });
  }
  if (to === "killed") io.err("They stay off. To turn one on: tau extensions revive NAME\n");
}
