/** Images of the clipboard and of files, for prompts. */
import { execFile } from "node:child_process";
import { readFile, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { resolve } from "node:path";
import type { ImageContent } from "@tau/ai";
import { detectImageType } from "@tau/tools/platform";

type Env = Readonly<Record<string, string | undefined>>;

const maxBytes = 20_000_000;
const timeoutMs = 3_000;

/** Tried in this order; one that is not installed or finds no image is passed over. They write the image to their output. */
const readers: readonly (readonly [command: string, ...args: string[]])[] = [
  ["wl-paste", "--no-newline", "--type", "image/png"],
  ["xclip", "-selection", "clipboard", "-t", "image/png", "-o"],
  ["pngpaste", "-"],
  ["osascript", "-e", "get the clipboard as «class PNGf»"],
];

export async function readClipboardImage(env: Env): Promise<ImageContent | undefined> {
  for (const [command, ...args] of readers) {
    const output = await run(command, args, env);
    const image = output && toImage(command === "osascript" ? decodeAppleScript(output) : output);
    if (image) return image;
  }
  return undefined;
}

/** AppleScript writes data as «data PNGf89504E47…». */
const decodeAppleScript = (output: Buffer): Buffer =>
  Buffer.from(/PNGf([0-9A-F]+)/i.exec(output.toString("utf8"))?.[1] ?? "", "hex");

const run = (command: string, args: readonly string[], env: Env): Promise<Buffer | undefined> =>
  new Promise((done) => {
    const options = {
      env: env as NodeJS.ProcessEnv,
      encoding: "buffer",
      maxBuffer: maxBytes,
      timeout: timeoutMs,
    } as const;
    execFile(command, args, options, (error, stdout) => done(error ? undefined : stdout));
  });

/** Undefined for what is no image, and for what cannot be read. */
export async function readImageFile(path: string, cwd: string): Promise<ImageContent | undefined> {
  const full = resolve(cwd, path.replace(/^~(?=\/)/, homedir()));
  const stats = await stat(full).catch(() => undefined);
  if (!stats?.isFile() || stats.size > maxBytes) return undefined;
  const bytes = await readFile(full).catch(() => undefined);
  return bytes && toImage(bytes);
}

/** By its first bytes, whatever it is called. */
function toImage(bytes: Buffer): ImageContent | undefined {
  const mimeType = detectImageType(bytes);
  return mimeType && { type: "image", data: bytes.toString("base64"), mimeType };
}
