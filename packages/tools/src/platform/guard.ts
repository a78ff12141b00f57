/** Who decides which files may be touched, and how that decision is asked for. */
import { ToolsError } from "../errors.ts";

export type Access = "read" | "write";

/** What a path alone does not tell. */
export interface GuardedFile {
  /**
   * How many names the file has; 1 for what does not exist, and for directories. With more than one, a file inside may
   * be a file from outside under another name. Stores of packages share files like that, so it is for the guard to
   * judge; writing never changes what the other names lead to.
   */
  hardLinks: number;
}

/**
 * Asked with the path that something really has: after it was opened, or before it is looked up where nothing is
 * opened. Throws to refuse; whatever it throws, the model is told that it was refused.
 */
export type Guard = (realPath: string, access: Access, file: GuardedFile) => void | Promise<void>;

export async function ask(guard: Guard, realPath: string, access: Access, hardLinks = 1): Promise<void> {
  try {
    await guard(realPath, access, { hardLinks });
  } catch (error) {
    if (error instanceof ToolsError && error.code === "denied") throw error;
    throw new ToolsError("denied", error instanceof Error ? error.message : String(error), { cause: error });
  }
}
