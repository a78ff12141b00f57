/** Extensions as files, as a user writes them. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Workspace } from "./kit.ts";

/** Writes an extension into the user's directory of extensions. `body` is that of its factory, whose argument is `tau`. */
export async function writeExtension({ agentDir }: Workspace, name: string, body: string): Promise<string> {
  return await writeModule(join(agentDir, "extensions", `${name}.ts`), `export default function (tau) {\n${body}\n}\n`);
}

export async function writeModule(path: string, source: string): Promise<string> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, source);
  return path;
}
