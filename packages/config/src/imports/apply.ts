/** Carries out the steps of a plan. Nothing is overwritten, also if it appeared since the plan was made. */
import { constants } from "node:fs";
import { copyFile, mkdir, readdir, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { systemClock, systemIds } from "@tau/ai";
import { isRecord } from "@tau/ai/internal";
import { nodeFileSystem, systemCode } from "@tau/tools/platform";
import { formatWriteFailure, makeDirectory, writeWhole } from "@tau/tools/durable";
import { HarnessError } from "@tau/protocol";
import type { AuthStorage } from "../auth/auth-storage.ts";
import { editText } from "../json/edit.ts";
import { parseJsonDocument } from "../json/document.ts";
import { nestSetting } from "../settings/nest.ts";
import type { SettingsManager } from "../settings/settings-manager.ts";
import { createFileSource } from "../settings/source.ts";
import type { ImportStep } from "./plan.ts";

export interface ApplyOptions {
  agentDir: string;
  settings: SettingsManager;
  auth: AuthStorage;
}

export interface AppliedStep {
  step: ImportStep;
  /** Why it could not be carried out; a sentence. */
  failure?: string;
}

/** Packages are not installed here: see `tau install`. Does not reject for a step that fails: the others are carried out. */
export async function applySteps(steps: readonly ImportStep[], options: ApplyOptions): Promise<AppliedStep[]> {
  const applied: AppliedStep[] = [];
  for (const step of steps) {
    if (step.action.kind === "install") continue;
    applied.push(await applyStep(step, options));
  }
  return applied;
}

async function applyStep(step: ImportStep, options: ApplyOptions): Promise<AppliedStep> {
  try {
    await act(step, options);
    return { step };
  } catch (error) {
    if (error instanceof HarnessError) return { step, failure: error.message };
    const code = systemCode(error);
    if (code === undefined) throw error;
    return { step, failure: code === "EEXIST" ? existsText : `It could not be written: ${formatWriteFailure(code)}.` };
  }
}

const existsText = "It is here already, and was not replaced.";

async function act({ action }: ImportStep, { agentDir, settings, auth }: ApplyOptions): Promise<void> {
  switch (action.kind) {
    case "set":
      return await settings.update("global", nestSetting(action.key, action.value));
    case "add":
      return await addToFile(join(agentDir, action.file), action.to, action.value);
    case "write":
      return await writeWhole(nodeFileSystem, {
        path: join(agentDir, action.to),
        bytes: Buffer.from(action.text),
        ids: systemIds,
        replaces: false,
      });
    case "copy":
      return await (action.isDirectory ? copyDirectory : copyOne)(action.from, join(agentDir, action.to));
    case "credential":
      if (await auth.get(action.provider)) throw new HarnessError("invalid_input", existsText);
      return await auth.set(action.provider, action.credential);
    case "install":
  }
}

/** Comments and changes of other programs are kept. */
async function addToFile(path: string, to: readonly string[], value: unknown): Promise<void> {
  const location = { directory: dirname(path), cwd: dirname(path), home: "" };
  const source = createFileSource({
    path,
    location,
    mode: 0o600,
    fileSystem: nodeFileSystem,
    clock: systemClock,
    ids: systemIds,
  });
  await source.rewrite(async (text) => {
    const parsed = text.trim() === "" ? undefined : await parseJsonDocument(text);
    if (parsed?.kind === "damaged") {
      throw new HarnessError("write_failed", `${path} is damaged, and was not changed: ${parsed.message}`);
    }
    if (hasPath(parsed?.value, to)) throw new HarnessError("invalid_input", existsText);
    return await editText(text, nest(to, value) as object);
  });
}

const nest = (path: readonly string[], value: unknown): unknown =>
  path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);

function hasPath(value: unknown, [name, ...rest]: readonly string[]): boolean {
  if (name === undefined) return true;
  return isRecord(value) && Object.hasOwn(value, name) && hasPath(value[name], rest);
}

async function copyOne(from: string, to: string): Promise<void> {
  await makeDirectory(nodeFileSystem, dirname(to));
  const { size } = await stat(from);
  if (size > maxBytes) throw tooLarge(from);
  await copyFile(from, to, constants.COPYFILE_EXCL);
}

/** A skill is a few files. What is larger is something else. */
const maxFiles = 2_000;
const maxBytes = 50 * 1024 * 1024;

const tooLarge = (path: string) =>
  new HarnessError(
    "invalid_input",
    `${path} has more than ${maxFiles} files or ${maxBytes / 1024 / 1024} MB. It was not copied.`,
  );

/** Copies regular files. Links are left out: they could lead anywhere. Of a copy that fails, nothing stays. */
async function copyDirectory(from: string, to: string): Promise<void> {
  const left = { files: maxFiles, bytes: maxBytes };
  await makeDirectory(nodeFileSystem, dirname(to));
  // Fails where there is one.
  await mkdir(to, { mode: 0o700 });
  try {
    await copyInto(from, to, left);
  } catch (error) {
    await rm(to, { recursive: true, force: true });
    throw error;
  }
}

async function copyInto(from: string, to: string, left: { files: number; bytes: number }): Promise<void> {
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) {
      if (--left.files < 0) throw tooLarge(from);
      await mkdir(target, { mode: 0o700 });
      await copyInto(source, target, left);
    } else if (entry.isFile()) {
      left.bytes -= (await stat(source)).size;
      if (--left.files < 0 || left.bytes < 0) throw tooLarge(from);
      await copyFile(source, target, constants.COPYFILE_EXCL);
    }
  }
}
