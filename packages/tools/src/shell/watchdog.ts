/**
 * What ends our commands when we are killed ourselves. A shell waits at the end of a pipe whose other end is ours: it
 * reads on when we are gone, however that came about, and then ends everything that bears our marks.
 */
import type { Ids } from "@tau/ai";
import type { Spawn, SpawnRequest } from "../platform/spawn.ts";
import { lockLimitLine, type Marker, variable } from "./process-tree.ts";

/** Gives every command a mark of its own, and all commands of one process one beginning. */
export interface Watchdog {
  mark(): Marker;
  /** Starts it, unless it is running. */
  watch(): Promise<void>;
}

/** A mark has nine digits for the process that gives it and six for the command. */
const firstInstance = 100_000_000;
const commandDigits = 6;

/**
 * They are stopped first, so that none can start others while others are ended. Each of a chain of forks is there for a
 * moment only, and so the newest are looked at again and again. Done when nobody is found twice in a row.
 */
const script = (instance: number) =>
  [
    `pattern='${lockLimitLine(`${instance}[0-9]{${commandDigits}}`)}|${variable}=${instance}';`,
    'end() { found=; for f in $(grep -lsE "$pattern" "$@"); do p=${f#/proc/}; p=${p%%/*};',
    'kill -STOP $p && read -r l <"/proc/$p/stat" || continue;',
    'case $l in *") Z "*) ;; *) found="$found $p";; esac; done;',
    '[ -z "$found" ] || { kill -KILL $found; quiet=0; }; };',
    "newest() { read -r _ _ _ _ last </proc/loadavg; set --;",
    'while [ $# -lt 40 ]; do set -- "$@" "/proc/$((last - $#))/limits"; done; end "$@"; };',
    "read -r _; quiet=0; round=0;",
    "while [ $quiet -lt 2 ] && [ $round -lt 200 ]; do quiet=$((quiet + 1)); round=$((round + 1));",
    "end /proc/[0-9]*/limits /proc/[0-9]*/environ; for look in 1 2 3 4 5 6 7 8; do newest; done; done 2>/dev/null",
  ].join("\n");

const watchdogs = new WeakMap<Spawn, Watchdog>();

/** The one for everything that `spawn` starts. */
export function watchdogOf(spawn: Spawn, ids: Ids): Watchdog {
  let watchdog = watchdogs.get(spawn);
  if (!watchdog) watchdogs.set(spawn, (watchdog = createWatchdog(spawn, ids())));
  return watchdog;
}

function createWatchdog(spawn: Spawn, id: string): Watchdog {
  const digits = Number.parseInt(id.replace(/[^0-9a-f]/gi, "").slice(-12) || "0", 16);
  const instance = firstInstance + (digits % (9 * firstInstance));
  let count = 0;
  let running: Promise<void> | undefined;
  const start = async () => {
    const request: SpawnRequest = {
      argv: ["sh", "-c", script(instance)],
      cwd: "/",
      env: { PATH: process.env["PATH"] ?? "/usr/bin:/bin" },
      stdin: "pipe",
      detached: true,
      isAside: true,
    };
    const child = await spawn(request);
    child.stdout.resume();
    child.stderr.resume();
    // Killed by somebody, or never started: the next command tries again.
    void child.exit.then(() => (running = undefined));
  };
  return {
    mark: () => ({ value: instance * 10 ** commandDigits + (count++ % 10 ** commandDigits) }),
    watch() {
      running ??= start();
      running.catch(() => (running = undefined));
      return running;
    },
  };
}
