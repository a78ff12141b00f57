/** pi's tool `write`: replaces a file whether or not it was read before. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import * as Type from "typebox";
import { withFileMutationQueue } from "./file-mutation-queue.ts";
import { toPath } from "./paths.ts";
import { createTool, type PiTool, refuseAborted, toResult } from "./tool.ts";

interface WriteOperations {
  writeFile(path: string, content: string): Promise<void>;
  /** With those above it. */
  mkdir(directory: string): Promise<void>;
}

export interface WriteToolOptions {
  /** Default: this machine's files. */
  operations?: WriteOperations;
}

const parameters = Type.Object({
  path: Type.String({ description: "Path of the file, relative or absolute" }),
  content: Type.String({ description: "The whole content" }),
});

const localOperations: WriteOperations = {
  writeFile: (path, content) => writeFile(path, content),
  mkdir: async (directory) => void (await mkdir(directory, { recursive: true })),
};

export function createWriteTool(
  cwd: string,
  { operations = localOperations }: WriteToolOptions = {},
): PiTool<undefined> {
  return createTool<{ path: string; content: string }, undefined>("write", parameters, async (args, signal) => {
    const path = toPath(cwd, args.path);
    return await withFileMutationQueue(path, async () => {
      refuseAborted(signal);
      await operations.mkdir(dirname(path));
      refuseAborted(signal);
      await operations.writeFile(path, args.content);
      return toResult(`Successfully wrote ${args.content.length} bytes to ${args.path}`, undefined);
    });
  });
}
