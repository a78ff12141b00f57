/** `tau help TOPIC`. What can be taken from a table is: commands, flags, settings, providers and exit codes. */
import type { Run } from "../command.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { flagGroups } from "../flags.ts";
import { flagName, helpText } from "../help.ts";
import { commandHelp } from "./command-help.ts";
import { commands } from "./index.ts";
import { runForms } from "./run-forms.ts";

export const help: Run = async (args, io) =>
  await runForms(
    "help",
    async (given) => {
      const [name] = given.places;
      const topic = name === undefined ? helpText(commands) : await topicText(name);
      if (topic !== undefined) {
        io.out(topic);
        return exitCodes.done;
      }
      const { nearestNames } = await import("@tau/ai");
      const [nearest] = nearestNames(name ?? "", topicNames());
      const hint = nearest === undefined ? `There are: ${topicNames().join(", ")}.` : `Did you mean ${nearest}?`;
      io.err(`tau help: there is nothing about ${JSON.stringify(name)}. ${hint}\n`);
      return exitCodes.usage;
    },
    { args, io },
  );

export const topicNames = (): string[] => [...new Set([...commands.map(({ name }) => name), ...Object.keys(topics)])];

async function topicText(name: string): Promise<string | undefined> {
  const command = commands.find((one) => one.name === name);
  const more = Object.hasOwn(topics, name) ? await topics[name]!() : undefined;
  if (!command) return more;
  return `${commandHelp(command)}${more === undefined ? "" : `\n${more}`}`;
}

const text = (...lines: string[]): string => `${lines.join("\n")}\n`;

/** Besides the commands; one with the name of a command is added to it. */
const topics: Readonly<Record<string, () => Promise<string>>> = {
  sessions: async () =>
    text(
      "SESSION is an id, the beginning of one, or the path of a file. Where it may be left out, the one that",
      "--continue takes is meant: the one of this directory that was used last, marked * in the list.",
      "",
      ...groupLines("Session"),
    ),
  models: async () =>
    text(
      "A model is named provider/id:thinking. Any part that leaves no doubt is enough: opus, openai/, gpt-5:high.",
      "Models and providers of your own are described in models.json, in tau's directory.",
      "",
      ...groupLines("Model"),
    ),
  keys: keysTopic,
  settings: settingsTopic,
  "exit-codes": async () => text(...exitCodeLines()),
};

function groupLines(title: string): string[] {
  const { flags = [] } = flagGroups.find((group) => group.title === title) ?? {};
  return aligned(flags.map((flag) => [flagName(flag), flag.summary]));
}

function aligned(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, summary]) => `  ${name.padEnd(width)}  ${summary}`.trimEnd());
}

async function keysTopic(): Promise<string> {
  const { findEnvKeys, getProviders } = await import("@tau/ai");
  const names = getProviders().map((provider) => [provider, (findEnvKeys(provider, () => "set") ?? []).join(" or ")]);
  return text(
    "A key is looked for in this order, and the first that may go to the model's host is used:",
    "  --api-key, auth.json (tau auth login), models.json, the environment.",
    "tau auth status says where each comes from. No key is ever shown or written to a log.",
    "",
    "In the environment:",
    ...aligned(names.map(([provider = "", variables = ""]) => [provider, variables] as const)),
  );
}

async function settingsTopic(): Promise<string> {
  const { settingsSchema } = await import("@tau/harness/settings");
  const { properties } = settingsSchema() as { properties: Record<string, { description?: string }> };
  const rows = Object.entries(properties).filter(([name]) => name !== "$schema");
  return text(
    "settings.json in tau's directory is yours, .tau/settings.json a project's, which wins. JSON with comments.",
    "tau config get shows what counts, tau config set changes it, and tau config schema is for editors.",
    "",
    ...aligned(rows.map(([name, { description = "" }]) => [name, description] as const)),
  );
}

const exitWords: Record<keyof typeof exitCodes, string> = {
  done: "Done.",
  failed: "It was tried and failed; standard error says why in one line. Also for a limit that ended a run.",
  usage: "The command line was not understood, or names a session, a model or a file that there is not.",
  denied: "The answer is there, but the policy did not allow something that the model wanted.",
  interrupted: "Interrupted by a person or a signal.",
};

function exitCodeLines(): string[] {
  const codes = Object.entries(exitCodes) as [keyof typeof exitCodes, ExitCode][];
  return aligned(codes.map(([name, code]) => [String(code), exitWords[name]] as const));
}
