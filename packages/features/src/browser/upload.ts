/** Files that are given to a page. */
import { basename, resolve } from "node:path";
import type { ExtensionAPI, ExtensionToolContext } from "@tau/extensions";
import { isWithin } from "@tau/tools/platform";
import { BrowserFailure } from "./failure.ts";
import type { UploadedFile } from "./messages.ts";

const maxBytes = 50 * 1024 * 1024;
const maxFiles = 20;

/** Types by the endings of names; a page may look at them. */
const types: Readonly<Record<string, string>> = {
  csv: "text/csv",
  gif: "image/gif",
  html: "text/html",
  jpeg: "image/jpeg",
  jpg: "image/jpeg",
  json: "application/json",
  md: "text/markdown",
  pdf: "application/pdf",
  png: "image/png",
  svg: "image/svg+xml",
  txt: "text/plain",
  webp: "image/webp",
  xml: "application/xml",
  zip: "application/zip",
};

interface UploadCall {
  readonly tau: Pick<ExtensionAPI, "requestAccess">;
  readonly context: Pick<ExtensionToolContext, "cwd" | "ports">;
  readonly signal: AbortSignal | undefined;
  /** The host of the page. */
  readonly host: string;
}

/** Reads files of the workspace after the person has agreed, each time. Throws a `BrowserFailure`. */
export async function readUploads(paths: readonly string[], call: UploadCall): Promise<UploadedFile[]> {
  const { tau, context, signal, host } = call;
  if (paths.length > maxFiles)
    throw new BrowserFailure("arguments", `At most ${maxFiles} files can be uploaded at once.`);
  const { files } = context.ports!;
  const workspace = await files.realPath(context.cwd);
  const real: string[] = [];
  for (const path of paths) {
    const absolute = resolve(context.cwd, path);
    // What is outside is not even looked at: whether it exists would be told.
    if (!isWithin(workspace, absolute) && !isWithin(context.cwd, absolute)) throw refuse(path);
    const target = await files.realPath(absolute);
    if (!isWithin(workspace, target)) throw refuse(path);
    real.push(target);
  }
  const verdict = await tau.requestAccess(
    [
      ...real.map((path) => ({ capability: "read" as const, target: { kind: "path" as const, path } })),
      {
        capability: "tool",
        target: { kind: "name", name: "browser upload" },
        eachTime: `It gives to a page of ${host}: ${real.join(", ")}`,
      },
    ],
    { name: "browser", summary: `Upload ${paths.join(", ")} to ${host}`, isContained: true, signal },
  );
  if (verdict.kind === "denied") throw new BrowserFailure("denied", `Nothing was uploaded. ${verdict.reason}`);
  let left = maxBytes;
  const read: UploadedFile[] = [];
  for (const path of real) {
    const { bytes } = await files.readWhole(path, left);
    left -= bytes.length;
    const name = basename(path);
    const mimeType = types[name.split(".").at(-1)!.toLowerCase()] ?? "application/octet-stream";
    read.push({ name, mimeType, data: Buffer.from(bytes).toString("base64") });
  }
  return read;
}

const refuse = (path: string): BrowserFailure =>
  new BrowserFailure("denied", `${path} is not in the workspace, and only files of the workspace are uploaded.`);
