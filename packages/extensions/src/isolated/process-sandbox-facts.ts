/** Gathers what the process of an isolated extension sees. */
import { defaultSandboxSettings } from "@tau/sandbox";
import { dirname } from "node:path";
import { isWithin } from "@tau/tools/platform";
import {
  findNamedCredentials,
  findProjectSecrets,
  findHiddenPaths,
  findSystemFacts,
  findRealPath,
} from "@tau/sandbox/internal";
import type { ExtensionSource } from "../api/extension.ts";
import type { ProcessSandboxFacts } from "./process-sandbox.ts";

/** Programs and libraries; of `/etc` only what says how to find them, the time zone, and which servers are trusted. */
const systemPaths = [
  ..."/usr /bin /sbin /lib /lib32 /lib64 /nix/store /gnu/store".split(" "),
  ...["ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "localtime", "ssl"].map((name) => `/etc/${name}`),
];

interface ProcessSandboxOptions {
  source: ExtensionSource;
  /** Our own code for the process, and what it reads. */
  program: readonly string[];
  cwd: string;
  home: string;
  agentDir: string;
  mayRead: boolean;
  /** Names of files with secrets of the project that it may read. */
  secretFiles: readonly string[];
}

export function findProcessSandboxFacts({
  source,
  program,
  mayRead,
  secretFiles,
  ...place
}: ProcessSandboxOptions): ProcessSandboxFacts {
  const real = (path: string): string => findRealPath(path) ?? path;
  const [workspace, home, agentDir] = [real(place.cwd), real(place.home), real(place.agentDir)];
  const named = findNamedCredentials({ env: process.env, cwd: workspace, home });
  const existing = (paths: readonly string[]) => paths.filter((path) => findRealPath(path) !== undefined);
  return {
    system: existing(systemPaths),
    program: [real(process.execPath), ...program.map(real)],
    extension: [getOwnCode(source, [home, agentDir])],
    ...(mayRead && { workspace }),
    hidden: mayRead
      ? [
          ...findHiddenPaths({ home, agentDir, named, replaced: [], workspace, hidesSockets: true }).paths,
          ...findProjectSecrets(workspace, secretFiles),
        ]
      : [],
    machineWide: findSystemFacts(defaultSandboxSettings, []).machineWide,
    isRoot: process.getuid?.() === 0,
  };
}

/** The directory of a package in a `node_modules`. Its dependencies are beside it. */
const modulesDirectory = /^.*\/node_modules(?=\/(?:@[^/]+\/)?[^/]+$)/;

/** Its directory with its dependencies, unless that is one in which everything of the user is; then the file alone. */
export function getOwnCode({ path, info }: ExtensionSource, [home, agentDir]: readonly [string, string]): string {
  const base = findRealPath(info.baseDir ?? dirname(path));
  if (base === undefined || !isWithin(base, path)) return path;
  const directories = [modulesDirectory.exec(base)?.[0] ?? base, base];
  return directories.find((directory) => !isWithin(directory, home) && !isWithin(directory, agentDir)) ?? path;
}
