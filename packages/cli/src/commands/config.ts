import { writeTextFile } from "@tau/tools/durable";
import { stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { systemIds } from "@tau/ai";
import { HarnessError } from "@tau/protocol";
import { hideKeys, hideValue } from "@tau/config/internal";
import { keepTrust } from "@tau/config/trust";
import { nestSetting, settingsSchema } from "@tau/config/settings";
import { allFeatures } from "@tau/features";
import type { Io } from "./command.ts";
import { type ExitCode, exitCodes } from "../process/exit-codes.ts";
import { jsonLine } from "../modes/json-line.ts";
import { runEditor } from "../process/run-editor.ts";
import { tableText } from "../process/table.ts";
import { type CommandContext, openCommandContext, reportSettingsProblems } from "./command-context.ts";
import { describeTyping, findSchema, getSetting, parseValue, toRows } from "./config-keys.ts";
import type { CommandArgs } from "./usage.ts";
import { UsageError } from "../process/errors.ts";

const getFile = ({ cwd, agentDir }: CommandContext, args: CommandArgs): string =>
  args.has("project") ? join(resolve(cwd), ".tau", "settings.json") : join(agentDir, "settings.json");

export async function get(args: CommandArgs, io: Io): Promise<void> {
  const context = await openCommandContext(io);
  const { settings } = context;
  const [key] = args.positionals;
  reportSettingsProblems(context, io);
  if (key !== undefined) {
    // Throws for an unknown setting; a known one may still have no value.
    findSchema(key);
    const value = hideValue(key, getSetting(settings.get(), key));
    return io.out(args.has("json") ? jsonLine(value ?? null) : `${formatValue(value)}\n`);
  }
  if (args.has("json")) return io.out(jsonLine(hideKeys(settings.get())));
  const rows = toRows(hideKeys(settings.get())).map(({ name, value }) => {
    const isInProject = getSetting(settings.getProject(), name) !== undefined;
    const isSet = isInProject || getSetting(settings.getGlobal(), name) !== undefined;
    const origin = isInProject ? "project" : "you";
    return [name, formatValue(value), isSet ? origin : { text: "default", colour: "dim" as const }];
  });
  io.out(tableText([{ title: "SETTING" }, { title: "VALUE", shrinks: true }, { title: "FROM" }], rows, io));
}

const formatValue = (value: unknown): string =>
  value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value);

export async function set(args: CommandArgs, io: Io): Promise<void> {
  const [key = "", text = ""] = args.positionals;
  const value = parseValue(key, text);
  const example = typeof value === "string" ? describeTyping(key) : undefined;
  try {
    await update(args, io, value);
  } catch (error) {
    if (!(error instanceof HarnessError) || example === undefined) throw error;
    throw new HarnessError(error.code, `${error.message} ${example}`, { cause: error });
  }
}

export const unset = (args: CommandArgs, io: Io): Promise<void> => update(args, io, undefined);

async function update(args: CommandArgs, io: Io, value: unknown): Promise<void> {
  const [key = ""] = args.positionals;
  findSchema(key);
  const context = await openCommandContext(io);
  const change = nestSetting(key, value);
  if (!args.has("project")) await context.settings.update("global", change);
  else await context.settings.update("project", change, (write) => keepTrust({ ...context, ids: systemIds }, write));
  reportSettingsProblems(context, io);
  const outcome = value === undefined ? "is removed" : `is ${JSON.stringify(hideValue(key, value))}`;
  io.err(`${getFile(context, args)}: ${key} ${outcome}.\n`);
}

/** Checks the file when the editor is closed; errors are reported with their line. */
export async function edit(args: CommandArgs, io: Io): Promise<ExitCode | void> {
  const editor = io.env["VISUAL"] || io.env["EDITOR"];
  const context = await openCommandContext(io);
  const file = getFile(context, args);
  if (!editor) {
    throw new UsageError("invalid_input", `Set VISUAL or EDITOR to your editor, or open ${file} yourself.`);
  }
  if (!(await stat(file).catch(() => undefined))) await writeTextFile(file, "{\n}\n");
  const code = await runEditor(editor, file, io);
  if (code !== 0) throw new HarnessError("unavailable", `The editor ${JSON.stringify(editor)} ended with ${code}.`);
  await context.settings.reload();
  reportSettingsProblems(context, io);
  if (context.settings.problems.length > 0) return exitCodes.failed;
  io.err(`${file} has no errors.\n`);
}

export async function printPath(args: CommandArgs, io: Io): Promise<void> {
  io.out(`${getFile(await openCommandContext(io), args)}\n`);
}

export async function printSchema(_args: CommandArgs, io: Io): Promise<void> {
  io.out(`${JSON.stringify(settingsSchema(allFeatures), undefined, 2)}\n`);
}
