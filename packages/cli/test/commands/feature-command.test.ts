import type { ProgramCommand, ProgramContext } from "@tau/extensions";
import { expect, test } from "vitest";
import { runFeatureCommand } from "../../src/commands/feature-command.ts";
import { parseCommandArgs, parseUsages } from "../../src/commands/usage.ts";
import { exitCodes } from "../../src/process/exit-codes.ts";
import { createIo, createWorkspace } from "../kit.ts";

const usage = ["tau notes add NAME [TEXT...] [--tag TAG]  Add a note", "tau notes list  List them"];

async function runNotes(args: readonly string[], run: ProgramCommand["run"]) {
  const workspace = await createWorkspace();
  const { io, written } = createIo(workspace);
  const command: ProgramCommand = { name: "notes", summary: "Keep notes", usage, run };
  const parsed = parseCommandArgs(parseUsages(command), args);
  if (parsed.kind !== "args") throw new Error(parsed.kind);
  const code = await runFeatureCommand(command, parsed.args, io);
  return { code, workspace, ...written };
}

test("it gets its arguments, repeated flags included, and the place where it works", async () => {
  let seen: ProgramContext | undefined;
  const { code, out, workspace } = await runNotes(
    ["add", "first", "two", "words", "--tag", "a", "--tag", "b"],
    async (context) => {
      seen = context;
      context.out("added\n");
    },
  );
  expect(code).toBeUndefined();
  expect(out).toBe("added\n");
  expect(seen).toMatchObject({ subcommand: "add", positionals: ["first", "two", "words"] });
  expect([seen!.value("tag"), seen!.values("tag"), seen!.values("other"), seen!.has("tag")]).toEqual([
    "b",
    ["a", "b"],
    [],
    true,
  ]);
  expect([seen!.cwd, seen!.agentDir]).toEqual([workspace.directory, workspace.agentDir]);
  // Standard input is no terminal.
  expect(seen!.ask).toBeUndefined();
});

test("a failure that it has reported is the exit code 1, and its error goes to the caller", async () => {
  expect((await runNotes(["list"], async () => "failed")).code).toBe(exitCodes.failed);
  await expect(
    runNotes(["list"], async () => {
      throw new Error("There are no notes.");
    }),
  ).rejects.toThrow("There are no notes.");
});

test("it can store a key", async () => {
  const { out } = await runNotes(["list"], async ({ openAuth, out: write }) => {
    const auth = await openAuth();
    await auth.set("notes", { type: "api_key", key: "secret" });
    write((await auth.list()).map(({ provider }) => provider).join(" "));
  });
  expect(out).toBe("notes");
});
