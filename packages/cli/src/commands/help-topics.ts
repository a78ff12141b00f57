/** `tau help TOPIC`. Commands, flags, providers and exit codes come from their tables, the rest from the documents. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { findEnvKeys, getProviders } from "@tau/ai";
import { didYouMean } from "@tau/ai/internal";
import type { Io } from "./command.ts";
import { exitCodeRows } from "../process/exit-codes.ts";
import { flagGroups } from "../start/flags.ts";
import { formatFlags, formatRows } from "../start/help.ts";
import { findInstalled } from "../hosting/installed-file.ts";
import { extraTopics, pages } from "./pages.ts";
import { showHelp } from "../start/show-help.ts";
import { commandHelp } from "./command-help.ts";
import { commands } from "./index.ts";
import type { CommandArgs } from "./usage.ts";
import { UsageError } from "../process/errors.ts";

export async function showTopic({ positionals: [name] }: CommandArgs, io: Io): Promise<void> {
  if (name === undefined) return await showHelp(io);
  if (!listTopics().includes(name)) {
    const hint = didYouMean(name, listTopics()) || ` The topics are: ${listTopics().join(", ")}.`;
    throw new UsageError("invalid_input", `There is no topic ${JSON.stringify(name)}.${hint}`);
  }
  const command = commands.find((candidate) => candidate.name === name);
  const lines = topics[name]?.();
  const parts = [...(command ? [commandHelp(command)] : []), ...(lines ? [`${lines.join("\n")}\n`] : [])].join("\n");
  const page = await readPage(name);
  if (page === undefined) {
    if (parts === "") throw new UsageError("invalid_input", `${name}.md is not installed. Install tau again.`);
    return io.out(parts);
  }
  const { showPage } = await import("./show-page.ts");
  await showPage(page, parts, io);
}

export const listTopics = (): string[] => [
  ...new Set([...commands.map(({ name }) => name), ...pages.map(({ name }) => name), ...extraTopics]),
];

/** Undefined if the documents are not installed, or have no page of this name. */
async function readPage(name: string): Promise<string | undefined> {
  if (!pages.some((page) => page.name === name)) return undefined;
  const path = findInstalled(join("docs", `${name}.md`));
  return path === undefined ? undefined : await readFile(path, "utf8");
}

/** Shown after the help of a command with this name, and before a page with this name. */
const topics: Readonly<Record<string, () => string[]>> & Record<(typeof extraTopics)[number], () => string[]> = {
  sessions: () => [
    "SESSION is an id, the beginning of an id, or the path of a file. Without it, the command uses the session that",
    "--continue uses: the last used one of this directory, marked * in the list.",
    "",
    ...formatGroup("Session"),
  ],
  models: () => [
    "A model is named provider/id:thinking. Any unique part of that is enough: opus, openai/, gpt-5:high.",
    "You can add models and providers in models.json, in tau's directory.",
    "",
    ...formatGroup("Model"),
  ],
  keys: () => [
    "About the keys of providers. tau help keybindings is about those of the keyboard.",
    "",
    "tau looks for a key in this order, and uses the first that may be sent to the model's host:",
    "  --api-key, auth.json or the key chain (tau auth login), models.json, the environment.",
    "tau auth status says where each key comes from. Keys are never shown or logged.",
    "",
    "In the environment:",
    ...formatRows(
      getProviders().map((provider) => [provider, (findEnvKeys(provider, () => "set") ?? []).join(" or ")]),
    ),
  ],
  "exit-codes": () => formatRows(exitCodeRows),
};

const formatGroup = (title: string): string[] =>
  formatFlags(flagGroups.find((group) => group.title === title)?.flags ?? []);
