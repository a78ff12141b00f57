/** The files of the page. They are the same for everybody and say nothing about a session, so they need no token. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { extname, join, relative, sep } from "node:path";
import { gzipSync } from "node:zlib";
import { endResponse } from "./end-response.ts";
import { safeHeaders } from "./safe-headers.ts";

const types: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".ico": "image/x-icon",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
  ".webmanifest": "application/manifest+json; charset=utf-8",
  ".woff2": "font/woff2",
};

/** The name has a hash of the content in it, as the build writes them. */
const hashed = /-[\w-]{8,}\.[a-z0-9]+$/;

export class PageFiles {
  /** By the path in the address. Only these are served, so no path can lead elsewhere. */
  readonly #files: ReadonlyMap<string, string>;
  readonly #contents = new Map<string, { plain: Buffer; gzip: Buffer }>();

  /** `directory` has the built page; undefined: there is none. */
  constructor(directory: string | undefined) {
    this.#files = new Map(
      directory === undefined ? [] : listFiles(directory).map((path) => [toPath(directory, path), path]),
    );
  }

  /** False if there is no such file. */
  async send(path: string, { method, headers }: IncomingMessage, response: ServerResponse): Promise<boolean> {
    const name = path === "/" ? "/index.html" : path;
    const file = this.#files.get(name);
    if (file === undefined) return false;
    const contents = this.#contents.get(name) ?? readContents(file);
    this.#contents.set(name, contents);
    const takesGzip = /(?:^|[\s,])gzip(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(
      String(headers["accept-encoding"] ?? ""),
    );
    const content = takesGzip ? contents.gzip : contents.plain;
    response.writeHead(200, {
      ...(takesGzip && { "content-encoding": "gzip" }),
      vary: "accept-encoding",
      "content-type": types[extname(name)] ?? "application/octet-stream",
      "content-length": String(content.length),
      "cache-control": hashed.test(name) ? "public, max-age=31536000, immutable" : "no-cache",
      "content-security-policy": createPolicy(headers.host ?? ""),
      "cross-origin-opener-policy": "same-origin",
      "x-frame-options": "DENY",
      ...safeHeaders,
    });
    endResponse(response, method === "HEAD" ? undefined : content);
    return true;
  }
}

/**
 * The page's own files alone, and no code in them but files. Images of a session come in its messages. Not every browser
 * takes its own origin for that of a WebSocket too, so that is named; `host` was checked before.
 */
const createPolicy = (host: string): string =>
  [
    "default-src 'self'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    `connect-src 'self' ws://${host} wss://${host}`,
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-src 'none'",
    "frame-ancestors 'none'",
  ].join("; ");

function readContents(file: string): { plain: Buffer; gzip: Buffer } {
  const plain = readFileSync(file);
  return { plain, gzip: gzipSync(plain) };
}

const toPath = (directory: string, path: string) => `/${relative(directory, path).split(sep).join("/")}`;

function listFiles(directory: string): string[] {
  return readdirSync(directory).flatMap((name) => {
    const path = join(directory, name);
    const stats = statSync(path);
    return stats.isDirectory() ? listFiles(path) : [path];
  });
}
