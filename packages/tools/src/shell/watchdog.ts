/**
 * Ends our commands when we are killed ourselves. A shell waits at the end of a pipe whose other end is ours: it reads
 * on when we are gone, however that came about, and then ends everything that bears our marks.
 */
import { type Clock, systemIds } from "@tau/ai";
import { untilTimeout } from "@tau/ai/internal";
import { type Spawn, trySpawn } from "../platform/spawn.ts";
import { lockLimitLine, type Marker, variable } from "./process-tree.ts";

/** Gives every command a mark of its own, and all commands of one process one beginning. */
export interface Watchdog {
  mark(): Marker;
  /** Starts it, unless it is running. Where it may not be started, commands do without. */
  watch(): Promise<void>;
  /** Says that this user has no more commands. It ends with its last user, and that is waited for a little. */
  release(): Promise<void>;
}

/** How long its end is waited for. */
const endMs = 80;

/** A mark has nine digits for the process that gives it and six for the command. */
const firstInstance = 100_000_000;
const commandDigits = 6;

/**
 * A line on its input says that there is nothing to end. Processes are stopped before any is killed, so that none starts
 * others meanwhile. A link of a chain of forks lives for a moment only, so the newest pids are searched again and again,
 * and the next ones as well: on a busy machine the chain grows between reading the last pid and searching. One
 * that has died since the last round has left a next one. Done after five rounds in a row that found no process.
 */
const script = (instance: number) =>
  [
    `pattern='${lockLimitLine(`${instance}[0-9]{${commandDigits}}`)}|${variable}=${instance}';`,
    'end() { found=; for f in $(grep -lsE "$pattern" "$@"); do p=${f#/proc/}; p=${p%%/*};',
    'kill -STOP $p && read -r l <"/proc/$p/stat" || continue;',
    'found="$found $p"; case $l in *") Z "*) case $dead in *" $p "*) continue;; esac; dead="$dead$p ";; esac;',
    'quiet=0; done; [ -z "$found" ] || kill -KILL $found; };',
    "newest() { read -r _ _ _ _ last </proc/loadavg; set --;",
    'while [ $# -lt 80 ]; do set -- "$@" "/proc/$((last + 60 - $#))/limits"; done; end "$@"; };',
    "read -r _ && exit; quiet=0; round=0; dead=' ';",
    "while [ $quiet -lt 5 ] && [ $round -lt 1000 ]; do quiet=$((quiet + 1)); round=$((round + 1));",
    "end /proc/[0-9]*/limits /proc/[0-9]*/environ; for look in 1 2 3 4 5 6 7 8; do newest; done; done 2>/dev/null",
  ].join("\n");

const shared = new WeakMap<Spawn, SharedWatchdog>();

/**
 * A user of the one watchdog for everything that `spawn` starts. Its marks are never made of ids that repeat: another process with
 * the same ones would end our commands with its own.
 */
export function useWatchdog({ spawn, clock }: { spawn: Spawn; clock: Clock }): Watchdog {
  let watchdog = shared.get(spawn);
  if (!watchdog) shared.set(spawn, (watchdog = new SharedWatchdog(spawn, systemIds())));
  const { mark, users } = watchdog;
  const user = {};
  return {
    mark,
    watch() {
      users.add(user);
      return watchdog.watch();
    },
    async release() {
      if (!users.delete(user) || users.size > 0) return;
      await untilTimeout(watchdog.end(), endMs, clock);
    },
  };
}

class SharedWatchdog {
  /** The users that have run a command and may run others. */
  readonly users = new Set<object>();
  readonly #spawn: Spawn;
  readonly #instance: number;
  #count = 0;
  #running: ReturnType<typeof trySpawn> | undefined;

  constructor(spawn: Spawn, id: string) {
    const digits = Number.parseInt(id.replace(/[^0-9a-f]/gi, "").slice(-12) || "0", 16);
    this.#spawn = spawn;
    this.#instance = firstInstance + (digits % (9 * firstInstance));
  }

  readonly mark = (): Marker => ({
    value: this.#instance * 10 ** commandDigits + (this.#count++ % 10 ** commandDigits),
  });

  async watch(): Promise<void> {
    await (this.#running ?? this.#start());
  }

  async end(): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    const tried = await running;
    if (!tried || "refusal" in tried) return;
    tried.child.stdin?.end("\n");
    await tried.child.exit;
  }

  async #start(): Promise<void> {
    const running = trySpawn(this.#spawn, {
      argv: ["sh", "-c", script(this.#instance)],
      cwd: "/",
      env: { PATH: process.env["PATH"] ?? "/usr/bin:/bin" },
      stdin: "pipe",
      detached: true,
      isAside: true,
    });
    this.#running = running;
    // Killed by somebody, or not started for a passing reason: the next command tries again.
    const forget = () => {
      if (this.#running === running) this.#running = undefined;
    };
    const tried = await running;
    if ("refusal" in tried) {
      if (tried.isPassing) forget();
      return;
    }
    tried.child.stdout.resume();
    tried.child.stderr.resume();
    void tried.child.exit.then(forget);
  }
}
