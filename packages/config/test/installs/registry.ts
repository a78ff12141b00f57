/** A registry of npm packages on this computer. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { type ArchiveFile, createArchive, getIntegrity } from "./archive.ts";

interface Release {
  manifest: Record<string, unknown>;
  archive: Buffer;
  integrity: string;
  time: string;
}

export interface PublishOptions {
  /** Added to package.json. */
  manifest?: Record<string, unknown>;
  /** Besides package.json. By their names in the package, or as they are in the archive. */
  files?: Record<string, string> | readonly ArchiveFile[];
  time?: string;
  /** These bytes, whatever they are, in the place of an archive of the files. */
  archive?: Buffer;
}

export interface Registry {
  readonly url: string;
  /** The paths that were asked for. */
  readonly requests: string[];
  /** Whether requests get no answer, all of them or those for archives. */
  isSilent: boolean | "archives";
  publish(name: string, version: string, options?: PublishOptions): void;
  /** Sends other bytes for an archive than the registry has announced. */
  tamper(name: string, version: string): void;
}

export async function startRegistry(): Promise<Registry> {
  const packages = new Map<string, Map<string, Release>>();
  const requests: string[] = [];
  const describe = (name: string, releases: ReadonlyMap<string, Release>) => ({
    name,
    "dist-tags": { latest: [...releases.keys()].at(-1) },
    time: Object.fromEntries([...releases].map(([version, { time }]) => [version, time])),
    versions: Object.fromEntries(
      [...releases].map(([version, { manifest, integrity }]) => [
        version,
        { ...manifest, dist: { integrity, tarball: `${registry.url}/${name}/-/${version}.tgz` } },
      ]),
    ),
  });
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? "/").slice(1);
    requests.push(path);
    if (registry.isSilent === true) return;
    const [, name = path, version] = /^(.+)\/-\/(.+)\.tgz$/.exec(path) ?? [];
    const releases = packages.get(name);
    const release = version === undefined ? undefined : releases?.get(version);
    if (release && registry.isSilent === "archives") return;
    if (release) return void response.end(release.archive);
    response.statusCode = releases ? 200 : 404;
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(releases ? describe(name, releases) : { error: "not found" }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  );
  const registry: Registry = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    isSilent: false,
    publish(name, version, { manifest: more = {}, files = {}, time = "2020-01-01T00:00:00.000Z", ...given } = {}) {
      const manifest = { name, version, ...more };
      const listed: readonly ArchiveFile[] = Array.isArray(files)
        ? files
        : Object.entries(files).map(([path, content]: [string, string]) => ({ name: `package/${path}`, content }));
      const archive =
        given.archive ??
        createArchive([{ name: "package/package.json", content: JSON.stringify(manifest) }, ...listed]);
      const releases = packages.get(name) ?? new Map<string, Release>();
      packages.set(name, releases.set(version, { manifest, archive, integrity: getIntegrity(archive), time }));
    },
    tamper(name, version) {
      const release = packages.get(name)!.get(version)!;
      release.archive = createArchive([{ name: "package/package.json", content: JSON.stringify(release.manifest) }]);
    },
  };
  return registry;
}
