/** Watches a configuration file of git: commands may change some of its keys, and every other change is undone. */
import { renameSync, rmSync, type Stats, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { systemCode } from "@tau/tools/platform";
import { judgeConfig } from "./config.ts";
import { giveOwnerRights, inHeldDirectory } from "../held-directory.ts";
import { recentMs } from "../directory-stamps.ts";
import { lookAtPath, readText, unlessUnseen } from "../look.ts";

/** Whether commands may have made what is at a path. */
type IsPlanted = (path: string) => boolean;

export class WatchedConfig {
  readonly path: string;
  readonly #isPlanted: IsPlanted;
  #text: string | undefined;
  #stamp = "";

  constructor(path: string, isPlanted: IsPlanted) {
    this.path = path;
    this.#isPlanted = isPlanted;
    this.refresh();
  }

  /** For a file that a command has made: everything in it is new. */
  static createMissing(path: string, isPlanted: IsPlanted): WatchedConfig {
    const config = new WatchedConfig(path, isPlanted);
    config.#text = undefined;
    config.#stamp = getStamp(undefined);
    return config;
  }

  /** Takes the file as it is: nothing has run since it was checked. */
  refresh(): void {
    const stats = lookAtPath(this.path);
    const stamp = getStamp(stats);
    if (stamp === this.#stamp) return;
    this.#text = readText(this.path);
    // The next change may get the same time. Then the text is compared each time.
    this.#stamp = stats && Date.now() - stats.ctimeMs <= recentMs ? "" : stamp;
  }

  /** The keys whose changes were undone. `putAside` takes the whole file away, and reports it. */
  check(putAside: (path: string) => void): readonly string[] {
    // Nearly always. A directory that was replaced has another file in it.
    if (getStamp(lookAtPath(this.path)) === this.#stamp) return [];
    return inHeldDirectory(this.path, (held) => this.#checkHeld(held, putAside)) ?? [];
  }

  #checkHeld(held: string, putAside: (path: string) => void): readonly string[] {
    giveOwnerRights(dirname(held));
    const text = readText(held);
    // A link, a directory or a file that is too large to be read is never what git writes.
    if (text === undefined && lookAtPath(held) !== undefined) putAside(this.path);
    const verdict = judgeConfig(this.#text, text, this.#isPlanted);
    // Only what was judged is remembered: a job may have changed the file again by now. So it is judged once more.
    this.#stamp = "";
    this.#text = verdict.kind === "undone" ? verdict.text : text;
    if (verdict.kind !== "undone") return [];
    if (tryToWrite(held, verdict.text)) return verdict.keys;
    putAside(this.path);
    return [];
  }
}

/** Writes the file as a whole: git may read it at any time. False if the system does not let us. */
function tryToWrite(path: string, text: string | undefined): boolean {
  const draft = `${path}.tau-${process.pid}`;
  try {
    if (text === undefined) rmSync(path, { recursive: true, force: true });
    else {
      rmSync(draft, { recursive: true, force: true });
      writeFileSync(draft, text, { flag: "wx", mode: 0o644 });
      renameSync(draft, path);
    }
    return true;
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    unlessUnseen(() => rmSync(draft, { recursive: true, force: true }));
    return false;
  }
}

/** Different whenever the file was changed or replaced, unless that happened right after another change. */
const getStamp = (stats: Stats | undefined): string =>
  stats ? `${stats.dev} ${stats.ino} ${stats.size} ${stats.mtimeMs} ${stats.ctimeMs} ${stats.mode}` : "missing";
