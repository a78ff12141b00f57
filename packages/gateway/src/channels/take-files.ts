/** Takes the files that came with a message: images are shown to the model, others are put into the workspace. */
import { mkdir, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import type { ImageContent } from "@tau/ai";
import { detectImageType } from "@tau/tools/platform";
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
    const directory = join("received", getDigest(message.id).slice(0, 12));
    const fileName = toFileName(name);
    const isTaken = saved.includes(join(directory, fileName));
    const path = join(directory, isTaken ? `${saved.length}_${fileName}` : fileName);
    await mkdir(join(cwd, directory), { recursive: true });
    await writeFile(join(cwd, path), bytes);
    saved.push(path);
  }
  return { images, saved };
}

/** A name of a file that is no path, is not hidden, and has no characters that commands read in another way. */
const toFileName = (name: string): string =>
  basename(toPlainName(name))
    .replaceAll(/[^\p{L}\p{N}._-]+/gu, "_")
    .replace(/^[.-]+/, "") || "file";
