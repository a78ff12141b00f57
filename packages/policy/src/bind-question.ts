/** Binds the answer to a question to everything that it was about. If any of that is different later, the answer does not apply. */
import { createHash } from "node:crypto";
import type { Files } from "@tau/tools";
import type { CalledTool } from "./call-summary.ts";
import type { PolicyRequest, Verdict } from "./policy.ts";

interface BoundQuestion {
  call: CalledTool & { id: string };
  /** Its target is bound already if it is a command; see `bindCommand`. */
  request: PolicyRequest;
  verdict: Verdict;
  cwd: string;
}

const maxFileBytes = 4 * 1024 * 1024;

/** A hash of the call, its tool, the request, the verdict, the working directory and the file that the request names. */
export async function bindQuestion(
  { call, request, verdict, cwd }: BoundQuestion,
  files: Pick<Files, "realPath" | "stat" | "readWhole">,
): Promise<string> {
  const { id, name, args, tool } = call;
  const definition = tool && [tool.label, tool.description, tool.parameters];
  const { kind, rule, ...facts } = verdict;
  const { target } = request;
  const content = target.kind === "path" ? await describeFile(target.path, files) : null;
  const parts = [id, name, args, definition, request, kind, rule, facts, await files.realPath(cwd), content];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}

/** A hash of the content; the size and the time of the last change of a large file. Null for what is no file: what matters is that it stays so. */
async function describeFile(path: string, files: Pick<Files, "stat" | "readWhole">): Promise<unknown> {
  try {
    const { bytes } = await files.readWhole(path, maxFileBytes);
    return createHash("sha256").update(bytes).digest("hex");
  } catch {
    const stats = await files.stat(path).catch(() => undefined);
    return stats?.isFile() ? [stats.size, stats.mtimeMs, stats.ino] : null;
  }
}
