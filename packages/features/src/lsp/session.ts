/** The language servers and files of a session, for the actions of the tool and for what follows changes of files. */
import { resolve } from "node:path";
import type { LspClient } from "./client.ts";
import type { SetOptions, SyncedDocument } from "./documents.ts";
import { LspError } from "./failure.ts";
import type { LspServers } from "./servers.ts";
import type { FoundServer } from "./find-server.ts";
import type { SourceFiles, SourcePort } from "./source-files.ts";

/** Other open files are looked at no more often than this. */
const refreshEveryMs = 1_000;

export interface OpenOptions {
  timeoutMs: number;
  signal?: AbortSignal | undefined;
}

export interface OpenFile {
  readonly client: LspClient;
  readonly path: string;
  readonly document: SyncedDocument;
}

interface LspSessionParts {
  cwd: string;
  servers: LspServers;
  files: SourceFiles;
}

export class LspSession {
  readonly cwd: string;
  readonly servers: LspServers;
  readonly files: SourceFiles;
  readonly #refreshedAt: WeakMap<LspClient, number>;

  constructor({ cwd, servers, files }: LspSessionParts, refreshedAt = new WeakMap<LspClient, number>()) {
    this.cwd = cwd;
    this.servers = servers;
    this.files = files;
    this.#refreshedAt = refreshedAt;
  }

  /** Returns this session with the permissions of another call. */
  through(port: SourcePort): LspSession {
    const { cwd, servers, files } = this;
    return new LspSession({ cwd, servers, files: files.through(port) }, this.#refreshedAt);
  }

  resolve(file: string): string {
    return resolve(this.cwd, file);
  }

  /** Opens a file in its main server, with its text as it is on disk now. */
  async openFile(file: string, options: OpenOptions): Promise<OpenFile> {
    const path = this.resolve(file);
    // First, because there is no need for a server if the file cannot be read.
    await this.files.read(path);
    return await this.openIn(this.servers.choose(path).main, path, options);
  }

  async openIn(server: FoundServer, path: string, options: OpenOptions): Promise<OpenFile> {
    const client = await this.servers.open(server, options);
    await this.refresh(client);
    return { client, path, document: await this.sync(client, path) };
  }

  async sync(client: LspClient, path: string, options?: SetOptions): Promise<SyncedDocument> {
    const { lines } = await this.files.read(path);
    return client.sync(path, lines.text, options);
  }

  /** Notifies a server of changes of files that it has open, whoever made them. */
  async refresh(client: LspClient): Promise<void> {
    const now = this.servers.clock.monotonic();
    if (now - (this.#refreshedAt.get(client) ?? -Infinity) < refreshEveryMs) return;
    this.#refreshedAt.set(client, now);
    for (const { path } of client.documents.list()) {
      await this.sync(client, path).catch((error: unknown) => {
        // A file that cannot be read any more keeps the text that the server has.
        if (error instanceof LspError && error.kind === "missing") client.documents.close(path);
      });
    }
  }
}
