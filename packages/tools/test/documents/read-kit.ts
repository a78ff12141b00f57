/** Reads documents as a model does. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ImageContent, TextContent } from "@tau/ai";
import { createFakeClock } from "@tau/ai/testing";
import { createReadTool } from "../../src/files/read.ts";
import { createFiles, type Files } from "../../src/platform/files.ts";
import { scratch } from "../scratch.ts";

/** Whatever is slow here is so because the machine is busy. */
const clock = createFakeClock();

type Args = Parameters<ReturnType<typeof createReadTool>["execute"]>[1];

export function withFiles(files: Readonly<Record<string, string | Buffer>>): string {
  const cwd = scratch();
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, name)), { recursive: true });
    writeFileSync(join(cwd, name), content);
  }
  return cwd;
}

export async function readDocument(
  cwd: string,
  args: Args,
  { files = createFiles(), signal }: { files?: Files; signal?: AbortSignal } = {},
) {
  const { content, details } = await createReadTool({ cwd, files, clock }).execute("id", args, signal);
  const texts = content.filter((block): block is TextContent => block.type === "text");
  const image = content.find((block): block is ImageContent => block.type === "image");
  return { text: texts.map(({ text }) => text).join("\n"), image, details: details! };
}

/** The text, or the message of the error. Anything but an expected failure is thrown. */
export async function describeRead(cwd: string, args: Args): Promise<string> {
  try {
    return (await readDocument(cwd, args)).text;
  } catch (error) {
    const { name, code, message } = error as { name: string; code: string; message: string };
    if (name !== "ToolsError") throw error;
    return `${code}: ${message}`;
  }
}
