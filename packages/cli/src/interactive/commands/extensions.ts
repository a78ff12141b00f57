import type { LoadedExtension } from "@tau/extensions";
import { toPlainLine } from "@tau/tui";
import type { LoadedExtensions } from "../extensions/extension-client.ts";
import type { Interface } from "../interface.ts";

export function showExtensions(ui: Interface): void {
  const { extensions } = ui.client;
  if (extensions?.isRemote)
    return ui.say("The extensions of this session run in the gateway: `tau extensions` lists them there.");
  const loaded = extensions?.loaded;
  if (!loaded) return ui.say("There are no extensions. tau -e PATH loads one.");
  ui.say(describeExtensions(loaded).join("\n"));
}

/** Each with what it brings, then those that do not run, then what else is wrong. Pure. */
function describeExtensions(loaded: LoadedExtensions): string[] {
  const { list, idle, problems, registrations } = loaded;
  const running = list.filter(({ state }) => state !== "killed");
  const width = Math.max(0, ...[...running, ...idle].map(({ source }) => toPlainLine(source.name).length));
  const entries = running.flatMap((extension) => [
    `${toPlainLine(extension.source.name).padEnd(width)}  ${extension.state}, ${hosts[extension.host]}`,
    ...describeRegistrations(extension, loaded).map((line) => `  ${toPlainLine(line)}`),
  ]);
  const asleep = idle.flatMap(({ source, state, message }) => [
    `${toPlainLine(source.name).padEnd(width)}  ${state}`,
    `  ${toPlainLine(message)}`,
  ]);
  const told = new Set(idle.map(({ source }) => source.name));
  const wrong = [...problems, ...registrations.problems]
    .filter(({ extension }) => !told.has(extension))
    .map(({ extension, message }) => `  ${extension}: ${message}`);
  const replaced = loaded.replaced.map(
    ({ kind, name, by }) => `  ${toPlainLine(by)} replaces tau's ${replacedNames[kind]}${toPlainLine(name)}.`,
  );
  return [...entries, ...titled("Replaced", replaced), ...titled("Not running", asleep), ...titled("Problems", wrong)];
}

const replacedNames = { tool: "tool ", command: "command /", flag: "option --" } as const;

const titled = (title: string, lines: readonly string[]): string[] => (lines.length === 0 ? [] : ["", title, ...lines]);

const hosts: Readonly<Record<LoadedExtension["host"], string>> = { process: "in this process", isolated: "isolated" };

function describeRegistrations(extension: LoadedExtension, { registrations }: LoadedExtensions): string[] {
  const own = <T>(all: ReadonlyMap<string, { extension: LoadedExtension; definition: T }>) =>
    [...all].filter(([, owned]) => owned.extension === extension).map(([name]) => name);
  const rows: [title: string, names: string[]][] = [
    ["Tools", own(registrations.tools)],
    ["Commands", own(registrations.commands).map((name) => `/${name}`)],
    ["Options", own(registrations.flags).map((name) => `--${name}`)],
    ["Keys", own(registrations.shortcuts)],
    ["Providers", [...extension.providers.keys()]],
  ];
  return rows.flatMap(([title, names]) => (names.length === 0 ? [] : [`${title}: ${names.join(", ")}`]));
}
