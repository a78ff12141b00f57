/** `tau help TOPIC`. Commands, flags, settings, providers and exit codes come from their tables. */
import { findEnvKeys, getProviders } from "@tau/ai";
import { didYouMean } from "@tau/ai/internal";
import { HarnessError } from "@tau/harness";
import { settingsSchema } from "@tau/harness/settings";
import type { Io } from "../command.ts";
import { exitCodes } from "../exit-codes.ts";
import { flagGroups } from "../flags.ts";
import { formatFlags, formatRows } from "../help.ts";
import { showHelp } from "../show-help.ts";
import { commandHelp } from "./command-help.ts";
import { commands } from "./index.ts";
import type { CommandArgs } from "./usage.ts";

export async function showTopic({ positionals: [name] }: CommandArgs, io: Io): Promise<void> {
  if (name === undefined) return await showHelp(io);
  if (!listTopics().includes(name)) {
    const hint = didYouMean(name, listTopics()) || ` The topics are: ${listTopics().join(", ")}.`;
    throw new HarnessError("invalid_input", `There is no topic ${JSON.stringify(name)}.${hint}`);
  }
  const command = commands.find((candidate) => candidate.name === name);
  if (command) io.out(commandHelp(command));
  const lines = topics[name]?.();
  if (lines) io.out(`${command ? "\n" : ""}${lines.join("\n")}\n`);
}

export const listTopics = (): string[] => [...new Set([...commands.map(({ name }) => name), ...Object.keys(topics)])];

/** A topic with the name of a command is appended to the help of that command. */
const topics: Readonly<Record<string, () => string[]>> = {
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
    "tau looks for a key in this order, and uses the first that may be sent to the model's host:",
    "  --api-key, auth.json or the key chain (tau auth login), models.json, the environment.",
    "tau auth status says where each key comes from. Keys are never shown or logged.",
    "",
    "In the environment:",
    ...formatRows(
      getProviders().map((provider) => [provider, (findEnvKeys(provider, () => "set") ?? []).join(" or ")]),
    ),
  ],
  settings: () => {
    const { properties } = settingsSchema() as { properties: Record<string, { description?: string }> };
    const settings = Object.entries(properties).filter(([name]) => name !== "$schema");
    return [
      "Your settings are in settings.json in tau's directory; those of a project are in .tau/settings.json and win.",
      "Both are JSON with comments. tau config get shows the settings in effect, and tau config set changes them.",
      "",
      ...formatRows(settings.map(([name, { description = "" }]) => [name, description])),
    ];
  },
  "exit-codes": () =>
    formatRows([
      [String(exitCodes.done), "Done."],
      [String(exitCodes.failed), "Failed, or stopped by a limit; standard error says why in one line."],
      [String(exitCodes.usage), "The command line is wrong, or names a session, model or file that does not exist."],
      [String(exitCodes.denied), "Answered, but the policy denied a tool call of the model."],
      [String(exitCodes.interrupted), "Interrupted by the user, or by SIGINT."],
      ["129, 143", "Ended by SIGHUP or by SIGTERM."],
    ]),
};

const formatGroup = (title: string): string[] =>
  formatFlags(flagGroups.find((group) => group.title === title)?.flags ?? []);
