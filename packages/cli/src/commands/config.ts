import { writeTextFile } from "@tau/harness/export";
import { spawn } from "node:child_process";
import { stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { HarnessError } from "@tau/harness";
import { type SettingsInput, settingsSchema } from "@tau/harness/settings";
import type { Io, Run } from "../command.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { jsonLine } from "../json-line.ts";
import { tableText } from "../table.ts";
import { at, nest, readValue, toRows, schemaAt } from "./config-keys.ts";
import type { Given } from "./forms.ts";
import { type CommandContext, openCommandContext, tellProblems } from "./command-context.ts";
import { runForms } from "./run-forms.ts";

export const config: Run = async (args, io) =>
  await runForms(
    "config",
    {
      get,
      set: (given) => set(given, readValue(given.places[0]!, given.places[1]!), io),
      unset: (given) => set(given, undefined, io),
      edit,
      path: async (given) => {
        io.out(`${getFile(await openCommandContext(io), given)}\n`);
        return exitCodes.done;
      },
      schema: async () => {
        io.out(`${JSON.stringify(settingsSchema(), undefined, 2)}\n`);
        return exitCodes.done;
      },
    },
    { args, io },
  );

const getFile = ({ cwd, agentDir }: CommandContext, given: Given): string =>
  given.has("project") ? join(resolve(cwd), ".tau", "settings.json") : join(agentDir, "settings.json");

const get = async (given: Given, io: Io): Promise<ExitCode> => {
  const context = await openCommandContext(io);
  const { settings } = context;
  const [key] = given.places;
  tellProblems(context, io);
  if (key !== undefined) {
    // Throws where there is no such setting, which is not the same as one without a value.
    schemaAt(key);
    const value = at(settings.get(), key);
    io.out(given.has("json") ? jsonLine(value ?? null) : `${shown(value)}\n`);
    return exitCodes.done;
  }
  if (given.has("json")) {
    io.out(jsonLine(settings.get()));
    return exitCodes.done;
  }
  const rows = toRows(settings.get()).map(({ name, value }) => {
    const from = at(settings.getProject(), name) !== undefined ? "project" : "you";
    const isSet = from === "project" || at(settings.getGlobal(), name) !== undefined;
    return [name, shown(value), isSet ? from : { text: "default", colour: "dim" as const }];
  });
  io.out(tableText([{ title: "SETTING" }, { title: "VALUE", gives: true }, { title: "FROM" }], rows, io));
  return exitCodes.done;
};

const shown = (value: unknown): string =>
  value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value);

async function set(given: Given, value: unknown, io: Io): Promise<ExitCode> {
  const key = given.places[0]!;
  schemaAt(key);
  const context = await openCommandContext(io);
  await context.settings.update(given.has("project") ? "project" : "global", nest(key, value) as SettingsInput);
  tellProblems(context, io);
  io.err(
    `${getFile(context, given)}: ${key} ${value === undefined ? "is taken out" : `is ${JSON.stringify(value)}`}.\n`,
  );
  return exitCodes.done;
}

/** The file is looked at when the editor is closed: what is wrong in it is said with its line. */
async function edit(given: Given, io: Io): Promise<ExitCode> {
  const editor = io.env["VISUAL"] || io.env["EDITOR"];
  const context = await openCommandContext(io);
  const file = getFile(context, given);
  if (!editor)
    throw new HarnessError("invalid_input", `Set VISUAL or EDITOR to your editor, or open ${file} yourself.`);
  if (!(await stat(file).catch(() => undefined))) {
    await writeTextFile(file, "{\n}\n");
  }
  const code = await runEditor(editor, file, io);
  if (code !== 0) throw new Error(`The editor ${JSON.stringify(editor)} ended with ${code}.`);
  await context.settings.reload();
  tellProblems(context, io);
  if (context.settings.problems.length > 0) return exitCodes.failed;
  io.err(`${file}: nothing is wrong with it.\n`);
  return exitCodes.done;
}

/** As git does it: the variable may hold a program with arguments. */
const runEditor = (editor: string, file: string, io: Io): Promise<number | string> =>
  new Promise((done, fail) => {
    const child = spawn("sh", ["-c", `${editor} "$1"`, "sh", file], {
      cwd: io.cwd,
      env: { ...io.env },
      stdio: "inherit",
    });
    child.once("error", fail);
    child.once("exit", (code, signal) => done(code ?? signal ?? "nothing"));
  });
