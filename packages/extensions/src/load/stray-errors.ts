/**
 * Errors of extensions in this process that nothing catches. For a promise that is rejected while nobody waits for it,
 * Node would end the program, and with it the session of the user; instead it is reported for the extension. What is
 * not of an extension ends the program as before, and so does an error in a callback: the code that called it may be in
 * the middle of its work.
 */
import { getErrorMessage } from "@tau/ai/internal";
import { isWithin } from "@tau/tools/platform";
import type { ExtensionSource } from "../api/extension.ts";
import { findPosition } from "./load-error.ts";

interface Watched {
  readonly source: Pick<ExtensionSource, "name" | "path" | "info">;
  readonly report: (message: string) => void;
}

/** By path. Code of an extension that was closed may still be on its way, so the last load of each one stays. */
const watched = new Map<string, Watched>();

/** Calls `report` from now on with rejections in files of the extension. */
export function watchStrayErrors(source: Watched["source"], report: Watched["report"]): void {
  if (!process.listeners("unhandledRejection").includes(onRejection)) process.on("unhandledRejection", onRejection);
  watched.set(source.path, { source, report });
}

function onRejection(reason: unknown): void {
  const owner = findOwner(reason);
  if (owner) return owner.report(describe(reason, owner));
  // As Node does without a listener; another listener of the embedding program decides for itself.
  if (process.listenerCount("unhandledRejection") === 1) throw reason;
}

/** Which extension an error comes from that ends the program, as a sentence. Undefined if it is not one of an extension. */
export function describeErrorOrigin(error: unknown): string | undefined {
  const owner = findOwner(error);
  if (!owner) return undefined;
  const position = findOwnPosition(error, owner);
  if (position !== undefined) return `It comes from the extension ${owner.source.name}: ${position}`;
  const names = [...watched.values()].map(({ source }) => source.name);
  return `It most likely comes from an extension: ${[...new Set(names)].join(", ")}`;
}

/**
 * Its own file is compared before its directory, which it may share with others. Where no file is known, it is most likely an
 * extension too: tau itself rejects with errors only, and waits for what it asks of Node.
 */
function findOwner(reason: unknown): Watched | undefined {
  const all = [...watched.values()];
  if (findPosition(reason, (file) => !file.startsWith("node:")) === undefined) return all.at(-1);
  return (
    all.find(({ source }) => findPosition(reason, (file) => file === source.path)) ??
    all.find(({ source }) => findPosition(reason, (file) => isWithin(source.info.baseDir ?? source.path, file)))
  );
}

const findOwnPosition = (error: unknown, { source }: Watched): string | undefined =>
  findPosition(error, (file) => isWithin(source.info.baseDir ?? source.path, file));

function describe(reason: unknown, owner: Watched): string {
  const { source } = owner;
  const position = findOwnPosition(reason, owner);
  const where = position ?? (watched.size === 1 ? source.path : "In this extension or another one");
  return `${where}: A promise was rejected, and nobody waited for it: ${getErrorMessage(reason)}`;
}
