/** Chooses the adapter for a call: one that is named, or the first that fits the program and can be used here. */
import { text as readText } from "node:stream/consumers";
import type { ResolvedFields } from "@tau/config/settings";
import type { Spawner } from "../kit/run-git.ts";
import { builtinAdapters, type DapAdapter, type DapResolvedAdapter, type DapTemplate } from "./adapters.ts";
import { DebugFailure } from "./failure.ts";
import { type AdapterPlace, findCommands, isSource, listFitting, resolveAdapter } from "./find-adapter.ts";
import type { debugSettings } from "./settings.ts";

type AdapterSettings = ResolvedFields<typeof debugSettings>["debug"]["adapters"];

/** The adapters that are known with these settings. Pure. */
export function listAdapters(settings: AdapterSettings): DapAdapter[] {
  const changed = builtinAdapters.flatMap((adapter) => {
    const own = settings[adapter.name];
    if (own?.disabled) return [];
    return [own ? change(adapter, own) : adapter];
  });
  const added = Object.entries(settings).flatMap(([name, own]) => {
    if (own.disabled || own.command === undefined || builtinAdapters.some((known) => known.name === name)) return [];
    return [change({ ...emptyAdapter, name, install: `see debug.adapters.${name}` }, own)];
  });
  // What somebody has set comes first.
  return [...added, ...changed];
}

const emptyAdapter = {
  languages: "yours",
  commands: [],
  args: [],
  fileTypes: [],
  rootMarkers: [],
  launch: { program: "$program", args: "$args", cwd: "$cwd" },
  attachPid: { processId: "$pid" },
  attachPort: { host: "127.0.0.1", port: "$port" },
} as const satisfies Omit<DapAdapter, "name" | "install">;

function change(adapter: DapAdapter, own: AdapterSettings[string]): DapAdapter {
  const { command, args, fileTypes, rootMarkers, connectMode, socketArgs, launch } = own;
  const isOther = command !== undefined;
  const { probe, ...rest } = adapter;
  return {
    ...rest,
    // Another program may print its version in another form.
    ...(probe && !isOther && { probe }),
    ...(isOther && { commands: [command] }),
    ...(args && { args }),
    ...(fileTypes && { fileTypes }),
    ...(rootMarkers && { rootMarkers }),
    ...(connectMode && { connectMode }),
    ...(socketArgs && { socket: { listen: socketArgs } }),
    ...(launch && { launch: { ...adapter.launch, ...(launch as DapTemplate) } }),
  };
}

interface ChooseOptions {
  adapters: readonly DapAdapter[];
  place: AdapterPlace;
  /** The name of an adapter, if the call has one. */
  name: string | undefined;
  /** The absolute path of the program, if the call has one. */
  program: string | undefined;
  probe: (adapter: DapAdapter, command: string) => Promise<ProbeResult>;
}

export type ProbeResult = { isUsable: true; version?: string } | { isUsable: false; why: string };

/** Throws a `DebugFailure` that says what to install. */
export async function chooseAdapter(options: ChooseOptions): Promise<DapResolvedAdapter> {
  const { adapters, place, name, program, probe } = options;
  const fitting = listChoices(adapters, name, program);
  const why: string[] = [];
  for (const adapter of fitting) {
    const commands = findCommands(adapter, place);
    for (const command of commands) {
      const result = await probe(adapter, command);
      if (result.isUsable) return resolveAdapter(adapter, command);
      why.push(`${command}: ${result.why}`);
    }
    if (commands.length === 0) why.push(`${adapter.name} is not installed`);
  }
  const install = fitting.map((adapter) => `${adapter.name}: ${adapter.install}`).join("; ");
  throw new DebugFailure(
    "missing",
    `No debugger for this program can be used. ${why.join(". ")}. Install one: ${install}.`,
  );
}

function listChoices(adapters: readonly DapAdapter[], name: string | undefined, program: string | undefined) {
  const names = adapters.map((adapter) => adapter.name).join(", ");
  if (name !== undefined) {
    const named = adapters.filter((adapter) => adapter.name === name);
    if (named.length === 0) throw new DebugFailure("invalid", `There is no adapter ${name}. Known: ${names}.`);
    return named;
  }
  if (program === undefined) throw new DebugFailure("invalid", `Name an adapter. Known: ${names}.`);
  if (isSource(program))
    throw new DebugFailure(
      "invalid",
      `${program} is source code. Compile it with debug information (-g), and launch the executable.`,
    );
  const fitting = listFitting(adapters, program);
  if (fitting.length === 0)
    throw new DebugFailure("invalid", `No adapter is known for ${program}. Name one with adapter: ${names}.`);
  return fitting;
}

const probeTimeoutMs = 10_000;

/** Asks a program for its version. */
export async function probeAdapter(
  { spawn }: Spawner,
  adapter: DapAdapter,
  { command, cwd }: { command: string; cwd: string },
): Promise<ProbeResult> {
  if (!adapter.probe) return { isUsable: true };
  const { args, minVersion = 0 } = adapter.probe;
  const program = await spawn(command, args, { cwd: adapter.avoidsProject ? "/" : cwd });
  const timer = setTimeout(() => void program.end(), probeTimeoutMs);
  program.stdin.on("error", () => {}).end();
  const [output, , status] = await Promise.all([
    readText(program.stdout),
    readText(program.stderr),
    program.exit,
  ]).finally(() => clearTimeout(timer));
  if (status.kind !== "exited" || status.code !== 0)
    return { isUsable: false, why: `it has no ${adapter.name} (${adapter.install})` };
  const version = /(\d+)(?:\.\d+)*/.exec(output.replaceAll(/\([^)]*\)/g, ""));
  if (Number(version?.[1] ?? 0) < minVersion)
    return { isUsable: false, why: `it is version ${version?.[0] ?? "?"}, and ${minVersion} or newer is needed` };
  return { isUsable: true, ...(version && { version: version[0] }) };
}
