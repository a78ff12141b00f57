/** The guard decides which files may be opened. */
import { getErrorMessage } from "@tau/ai/internal";
import { ToolsError } from "../errors.ts";

export type Access = "read" | "write";

/** Facts that a guard gets beside the path. */
export interface GuardedFile {
  /**
   * How many names the file has; 1 for a directory, and for a file that does not exist. With more than one, a file
   * inside the workspace may be a file from outside under another name. Package stores share files like that, so the
   * guard decides; writing never changes the content under the other names.
   */
  hardLinks: number;
}

/**
 * Gets the real path: after the file was opened, or before it is looked up where nothing is opened. Throws to refuse;
 * whatever it throws, the model reads that the file was refused.
 */
export type Guard = (realPath: string, access: Access, file: GuardedFile) => void | Promise<void>;

export async function ask(guard: Guard, realPath: string, access: Access, hardLinks = 1): Promise<void> {
  try {
    await guard(realPath, access, { hardLinks });
  } catch (error) {
    if (error instanceof ToolsError && error.code === "denied") throw error;
    throw new ToolsError("denied", getErrorMessage(error), { cause: error });
  }
}
