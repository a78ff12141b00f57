/**
 * Pages of sessions that whoever has their address may read, for some days. A share is two files in the gateway's directory,
 * named by the SHA-256 of its token: the page, and what the list shows. The token itself is kept nowhere.
 */
import { createHash } from "node:crypto";
import { readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, type Ids, systemClock, systemIds } from "@tau/ai";
import { tryParseJson } from "@tau/ai/internal";
import { nonEmptyText, parseFields, text, wholeNumber } from "@tau/config/fields";
import { appendToLedger } from "@tau/policy/internal";
import { getGatewayFiles, readOwnFile } from "@tau/protocol/node";
import { namingFile, writeWhole } from "@tau/tools/durable";
import { nodeFileSystem, unlessMissing } from "@tau/tools/platform";
import { createToken } from "../auth/token.ts";
import { openGatewayDirectory } from "../life/gateway-directory.ts";

export interface Share {
  /** Names it in the list and in the audit. Nobody finds the address from it. */
  readonly id: string;
  readonly sessionId: string;
  /** The title of the page. */
  readonly title: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly expiresAt: number;
}

export interface NewShare extends Share {
  /** 256 random bits, which are in the address and kept nowhere. */
  readonly token: string;
}

/** How long an address is valid. */
export const shareLifeMs = 7 * 24 * 60 * 60_000;

/** Another process may still be writing what is younger. */
const maxDraftAgeMs = 60 * 60_000;

/** Openings of one share are written to the audit at most this often. */
const auditEveryMs = 60_000;

const version = wholeNumber({ min: 1, unit: "versions" });
const time = wholeNumber({ min: 0, unit: "milliseconds" });
const fields = { version, sessionId: nonEmptyText, title: text, createdAt: time, expiresAt: time };

interface SharesOptions {
  agentDir: string;
  clock?: Clock;
  ids?: Ids;
}

export class Shares {
  readonly #agentDir: string;
  readonly #directory: string;
  readonly #clock: Clock;
  readonly #ids: Ids;
  /** When an opening was last written to the audit, by the monotonic clock. */
  readonly #auditedMs = new Map<string, number>();

  constructor({ agentDir, clock = systemClock, ids = systemIds }: SharesOptions) {
    this.#agentDir = agentDir;
    this.#directory = join(getGatewayFiles(agentDir).directory, "shares");
    this.#clock = clock;
    this.#ids = ids;
  }

  /** `html` is served as it is: secrets have to be out of it. */
  async add({ sessionId, title, html }: { sessionId: string; title: string; html: string }): Promise<NewShare> {
    await openGatewayDirectory(this.#agentDir);
    await this.removeExpired();
    const token = createToken();
    const digest = toDigest(token);
    const createdAt = this.#clock.now();
    const share = { sessionId, title, createdAt, expiresAt: createdAt + shareLifeMs };
    // In the audit first: nothing is shared that it does not have.
    await this.#audit("made", toId(digest), { session: sessionId });
    await this.#write(digest, "html", html);
    await this.#write(digest, "json", JSON.stringify({ version: 1, ...share }));
    return { id: toId(digest), ...share, token };
  }

  /** Lists the valid ones, the newest first. */
  async list(): Promise<Share[]> {
    await this.removeExpired();
    const shares = (await this.#listDigests()).map((digest) => this.#read(digest));
    return shares.filter((share) => share !== undefined).toSorted((a, b) => b.createdAt - a.createdAt);
  }

  /** False if there is none. Its address is not valid any more when this resolves. */
  async revoke(id: string): Promise<boolean> {
    const digest = (await this.#listDigests()).find((each) => toId(each) === id);
    if (digest === undefined) return false;
    await this.#remove(digest);
    await this.#audit("revoked", id);
    return true;
  }

  /** The page of a token; undefined if there is none, or its time is over. */
  async open(token: string): Promise<Buffer | undefined> {
    const digest = toDigest(token);
    const share = this.#read(digest);
    if (!share) return undefined;
    const page = await unlessMissing(readFile(this.#getPath(digest, "html")));
    if (!page) return undefined;
    await this.#auditOpening(share.id);
    return page;
  }

  async removeExpired(): Promise<void> {
    for (const digest of await this.#listDigests()) if (!this.#read(digest)) await this.#remove(digest);
    await this.#removeLeftovers();
  }

  /** Removes what a killed process has left: pages without a description, which nobody can open, and drafts. */
  async #removeLeftovers(): Promise<void> {
    const names = new Set(await this.#listNames());
    for (const name of names) {
      if (name.endsWith(".json") || (name.endsWith(".html") && names.has(name.replace(/html$/, "json")))) continue;
      const path = join(this.#directory, name);
      const stats = await unlessMissing(stat(path));
      if (stats && this.#clock.now() - stats.mtimeMs > maxDraftAgeMs) await rm(path, { force: true });
    }
  }

  async #auditOpening(id: string): Promise<void> {
    const now = this.#clock.monotonic();
    const last = this.#auditedMs.get(id);
    if (last !== undefined && now - last < auditEveryMs) return;
    this.#auditedMs.set(id, now);
    await this.#audit("opened", id);
  }

  #audit(outcome: "made" | "opened" | "revoked", id: string, more: Record<string, string> = {}): Promise<void> {
    const fact = { event: "share", outcome, by: outcome === "opened" ? "its address" : "user", share: id, ...more };
    return appendToLedger(fact, { agentDir: this.#agentDir, clock: this.#clock, ids: this.#ids });
  }

  #read(digest: string): Share | undefined {
    const parsed = parseFields(fields, tryParseJson(readOwnFile(this.#getPath(digest, "json")) ?? ""));
    if (parsed.kind !== "parsed") return undefined;
    const { version: _version, ...share } = parsed.values;
    return share.expiresAt > this.#clock.now() ? { id: toId(digest), ...share } : undefined;
  }

  async #write(digest: string, extension: "html" | "json", content: string): Promise<void> {
    const path = this.#getPath(digest, extension);
    const bytes = Buffer.from(content);
    await namingFile(path, () => writeWhole(nodeFileSystem, { path, bytes, ids: this.#ids }));
  }

  /** The description first: without it there is no share. */
  async #remove(digest: string): Promise<void> {
    for (const extension of ["json", "html"] as const) await rm(this.#getPath(digest, extension), { force: true });
  }

  async #listDigests(): Promise<string[]> {
    return (await this.#listNames()).flatMap((name) => /^([\da-f]{64})\.json$/.exec(name)?.[1] ?? []);
  }

  async #listNames(): Promise<string[]> {
    return (await unlessMissing(readdir(this.#directory))) ?? [];
  }

  #getPath(digest: string, extension: "html" | "json"): string {
    return join(this.#directory, `${digest}.${extension}`);
  }
}

const toDigest = (token: string): string => createHash("sha256").update(token).digest("hex");

const toId = (digest: string): string => digest.slice(0, 12);
