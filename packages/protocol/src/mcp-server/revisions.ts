/** The messages of MCP that a server of tools needs, in the revisions with a handshake and in the one without. Pure. */
import { isRecord, version } from "@tau/ai/internal";
import { JsonRpcError } from "../json-rpc/errors.ts";
import type { Params } from "../json-rpc/message.ts";

/** The revision without a handshake: each request names its revision, and each result its type. */
const statelessRevision = "2026-07-28";
/** Revisions with a handshake, the newest first. What this server sends is the same in all of them. */
const handshakeRevisions = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const;

const serverInfo = { name: "tau", title: "tau", version };
const capabilities = { tools: {} };
const instructions =
  "Each session is an agent that works on the files of one directory. run gives it a prompt and waits for the answer.";

/** The tools never change, so that a client may keep what it was told. */
const cacheHints = { ttlMs: 3_600_000, cacheScope: "public" };

const revisionKey = "io.modelcontextprotocol/protocolVersion";
const serverInfoKey = "io.modelcontextprotocol/serverInfo";

/** The revision that a request names; undefined after a handshake. */
export function getRevision({ _meta: meta }: Params): string | undefined {
  const revision = isRecord(meta) ? meta[revisionKey] : undefined;
  return typeof revision === "string" ? revision : undefined;
}

/** Throws for a request in a revision that is not spoken here. */
export function checkRevision(params: Params): void {
  const requested = getRevision(params);
  if (requested === undefined || requested === statelessRevision) return;
  const data = { supported: [statelessRevision], requested };
  throw new JsonRpcError("unsupported_revision", `The revision ${requested} is not spoken here.`, { data });
}

/** Whether a revision is one with a handshake. */
export const hasHandshake = (revision: string): boolean => handshakeRevisions.some((each) => each === revision);

export const discover = () => ({
  supportedVersions: [statelessRevision, ...handshakeRevisions],
  capabilities,
  instructions,
  ...cacheHints,
  _meta: { [serverInfoKey]: serverInfo },
});

export function initialize({ protocolVersion: wanted }: Params) {
  const protocolVersion = handshakeRevisions.find((revision) => revision === wanted) ?? handshakeRevisions[0];
  return { protocolVersion, capabilities, serverInfo, instructions };
}

export const listTools = (tools: readonly object[]) => ({ tools, ...cacheHints });

/** Adds what the revision of a request wants in every result. */
export const toResult = (result: object, params: Params): object =>
  getRevision(params) === undefined ? result : { resultType: "complete", ...result };

/** The token that names a request in progress notifications; undefined if the client wants none. */
export function getProgressToken({ _meta: meta }: Params): string | number | undefined {
  const token = isRecord(meta) ? meta["progressToken"] : undefined;
  return typeof token === "string" || typeof token === "number" ? token : undefined;
}
