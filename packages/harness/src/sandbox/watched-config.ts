/** One configuration file of git: commands may change some of its keys, and every other change is undone. */
import { renameSync, rmSync, type Stats, writeFileSync } from "node:fs";
import { judgeConfig } from "./git-config.ts";
import { lookAtPath, readText } from "./look.ts";
import type { SetAside } from "./set-aside.ts";

export class WatchedConfig {
  readonly path: string;
  #text: string | undefined;
  #stamp = "";

  constructor(path: string) {
    this.path = path;
    this.refresh();
  }

  /** For a file that a command has made: everything in it is new. */
  static createMissing(path: string): WatchedConfig {
    const config = new WatchedConfig(path);
    config.#text = undefined;
    config.#stamp = getStamp(undefined);
    return config;
  }

  /** Takes the file as it is: nothing has run since it was checked. */
  refresh(): void {
    const stamp = getStamp(lookAtPath(this.path));
    if (stamp === this.#stamp) return;
    this.#text = readText(this.path);
    this.#stamp = stamp;
  }

  /** The keys whose changes were undone. */
  check(setAside: SetAside): readonly string[] {
    const stats = lookAtPath(this.path);
    if (getStamp(stats) === this.#stamp) return [];
    // A link or a directory is never what git writes.
    if (stats && !stats.isFile()) setAside(this.path);
    const verdict = judgeConfig(this.#text, readText(this.path));
    if (verdict.kind === "undone") this.#write(verdict.text);
    this.refresh();
    return verdict.kind === "undone" ? verdict.keys : [];
  }

  /** As a whole: git may read it at any time. */
  #write(text: string | undefined): void {
    if (text === undefined) return rmSync(this.path, { force: true });
    const draft = `${this.path}.tau-${process.pid}`;
    rmSync(draft, { force: true });
    writeFileSync(draft, text, { flag: "wx", mode: 0o644 });
    renameSync(draft, this.path);
  }
}

/** Different whenever the file was changed or replaced. */
const getStamp = (stats: Stats | undefined): string =>
  stats ? `${stats.ino} ${stats.size} ${stats.mtimeMs} ${stats.ctimeMs} ${stats.mode}` : "missing";
