/** Takes the files that came with a message: images are shown to the model, others are put into the workspace. */
import { mkdir, realpath, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import type { ImageContent } from "@tau/ai";
import { detectImageType } from "@tau/tools/platform";
import { GatewayError } from "../errors.ts";
import { getDigest } from "../idempotency/digest.ts";
import type { IncomingMessage } from "@tau/extensions";
import { toPlainName } from "./peers.ts";

/** `saved` are paths in the workspace `cwd`. */
export async function takeFiles(
  message: Pick<IncomingMessage, "id" | "loadFiles">,
  cwd: string,
): Promise<{ images: ImageContent[]; saved: string[] }> {
  const [images, saved]: [ImageContent[], string[]] = [[], []];
  for (const { name, bytes } of (await message.loadFiles?.()) ?? []) {
    const imageType = detectImageType(bytes);
    if (imageType !== undefined) {
      images.push({ type: "image", data: Buffer.from(bytes).toString("base64"), mimeType: imageType });
      continue;
    }
    const directory = await openDirectory(cwd, ["received", getDigest(message.id).slice(0, 12)]);
    const fileName = toFileName(name);
    const isTaken = saved.includes(join(directory, fileName));
    const path = join(directory, isTaken ? `${saved.length}_${fileName}` : fileName);
    // The same message may come again. What is there can be a link, which is not followed.
    await rm(join(cwd, path), { force: true });
    await writeFile(join(cwd, path), bytes, { flag: "wx" });
    saved.push(path);
  }
  return { images, saved };
}

/** Makes a directory in the workspace. Throws if a link that the agent has made leads elsewhere: no policy is asked about these files. */
async function openDirectory(cwd: string, names: readonly string[]): Promise<string> {
  await mkdir(cwd, { recursive: true });
  const root = await realpath(cwd);
  let directory = "";
  for (const name of names) {
    directory = join(directory, name);
    await mkdir(join(cwd, directory), { recursive: true });
    if ((await realpath(join(cwd, directory))) === join(root, directory)) continue;
    throw new GatewayError("forbidden", `Files cannot be received: ${directory} leads out of the workspace.`);
  }
  return directory;
}

/** A name of a file that is no path, is not hidden, and has no characters that commands read in another way. */
const toFileName = (name: string): string =>
  basename(toPlainName(name))
    .replaceAll(/[^\p{L}\p{N}._-]+/gu, "_")
    .replace(/^[.-]+/, "") || "file";
