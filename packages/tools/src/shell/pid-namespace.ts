/**
 * A pid namespace is the only thing that contains every process a command starts: when its first process ends, the kernel
 * ends all the others, whatever sessions they created and whatever they did to their environment.
 */
import type { ConfinedLimits } from "../platform/command-sandbox.ts";
import { type ExitStatus, type Spawn, type SpawnRequest, trySpawn } from "../platform/spawn.ts";
import { toRlimits } from "./limits.ts";
import { standBack } from "./process-tree.ts";

/** Puts a command into a namespace of its own. The process that is started lives as long as the namespace does. */
export interface PidNamespace {
  /** For people: which program makes it. */
  readonly name: string;
  readonly prefix: readonly [string, ...string[]];
}

/** Shown to the model when a command leaves processes behind. */
export const leftoverNotice =
  "[Processes that were still running when the command ended were ended too. Start what should continue with background.]";

/**
 * The first process inside. It is separate from the command, because the first process of a namespace ignores most
 * signals, and because it has to collect zombies. What a shell prints about a child that was killed is not output. Processes
 * that the command leaves get a moment to finish (a `tee` at the end of `> >(tee log)` is still writing then), unless all
 * were asked to end. Where something else was mounted over `/proc`, nothing is read that could block.
 */
const init = [
  "left() { for p in /proc/[0-9]*; do [ -f $p/stat ] && read -r l <$p/stat || continue;",
  'case $l in "1 ("*|"$$ ("*|*") Z "*) ;; *) return 0;; esac; done; return 1; };',
  "exec 3>&2 2>/dev/null; asked=; trap asked=1 TERM;",
  '(exec "$@" 2>&3 3>&-); s=$?;',
  `[ "$asked" ] || { left && sleep 0.1 && left && echo "${leftoverNotice}" >&3; }; exit $s`,
].join(" ");

const firstProcess = ["sh", "-c", init, "sh"] as const;

/**
 * The first process where another program has made the namespace, for a command to follow. It says that it has started
 * with a line to this descriptor, and closes it; if nobody reads there any more, it starts nothing.
 */
export const createFirstProcess = (descriptor: number, limits: ConfinedLimits): readonly string[] => {
  const steps = [...toRlimits(limits), ...standBack];
  return [
    "/bin/sh",
    "-c",
    `echo >&${descriptor} || exit; exec ${descriptor}>&-; { ${steps.join("; ")}; } 2>/dev/null; ${init}`,
    "sh",
  ];
};
const unshare = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"] as const;
/** Ends the namespace with our process, even if that is killed. */
const tied = ["setpriv", "--pdeathsig", "KILL", "--"] as const;
const asUser = ["--user", "--map-current-user"] as const;
/** Root loses the right to mount: it could uncover the `/proc` beneath, or mount anything over it. */
const withoutMounts = ["setpriv", "--bounding-set", "-sys_admin", "--inh-caps", "-sys_admin", "--"] as const;

const bubblewrap = ["bwrap", "--unshare-pid", "--die-with-parent", "--dev-bind", "/", "/", "--proc", "/proc"] as const;
const bubblewrapWithoutMounts = ["--cap-drop", "CAP_SYS_ADMIN"] as const;

/** In the order in which they are tried. Only `bubblewrap` may be installed where `unshare` or `setpriv` is not. */
const getCandidates = (isRoot: boolean): readonly PidNamespace[] => [
  // In a user namespace root could give files to no other user, nor change theirs: no package could be installed.
  isRoot
    ? { name: "unshare", prefix: [...tied, ...unshare, "--", ...withoutMounts, ...firstProcess] }
    : { name: "unshare with a user namespace", prefix: [...tied, ...unshare, ...asUser, "--", ...firstProcess] },
  { name: "bubblewrap", prefix: [...bubblewrap, ...bubblewrapWithoutMounts, "--", ...firstProcess] },
];

const answers = new WeakMap<Spawn, Promise<Answer>>();

/** The result of trying. One that is not definite has a temporary reason, such as a lack of descriptors. */
interface Answer {
  namespace: PidNamespace | undefined;
  isDefinite: boolean;
}

/** The first kind that works here; undefined when none does. Tried once, or again if the answer was not definite. */
export async function findPidNamespace(spawn: Spawn): Promise<PidNamespace | undefined> {
  let search = answers.get(spawn);
  if (!search) {
    answers.set(spawn, (search = probe(spawn)));
    const forget = () => answers.delete(spawn);
    search.then(({ isDefinite }) => isDefinite || forget(), forget);
  }
  return (await search).namespace;
}

export function enterNamespace(request: SpawnRequest, namespace: PidNamespace): SpawnRequest {
  return { ...request, argv: [...namespace.prefix, ...request.argv] };
}

/** An answer that neither a missing program nor a refusing kernel would give by chance. */
const expectedCode = 42;
const question = `[ "$PPID" -le 2 ] && [ -r /proc/self/stat ] && exit ${expectedCode}`;

async function probe(spawn: Spawn): Promise<Answer> {
  if (process.platform !== "linux") return { namespace: undefined, isDefinite: true };
  let isDefinite = true;
  for (const candidate of getCandidates(process.getuid?.() === 0)) {
    const request: SpawnRequest = {
      argv: ["sh", "-c", question],
      cwd: "/",
      env: { PATH: process.env["PATH"] ?? "/usr/bin:/bin", LC_ALL: "C" },
    };
    const answer = await attempt(spawn, enterNamespace(request, candidate));
    if (answer === "works") return { namespace: candidate, isDefinite: true };
    isDefinite &&= answer === "never";
  }
  return { namespace: undefined, isDefinite };
}

async function attempt(spawn: Spawn, request: SpawnRequest): Promise<"works" | "never" | "not now"> {
  const tried = await trySpawn(spawn, request);
  // A wrapper may refuse this program: that is no reason not to run the model's commands.
  if ("refusal" in tried) return tried.isPassing ? "not now" : "never";
  const { child } = tried;
  child.stdout.resume();
  const [status, complaint] = await Promise.all([child.exit, getText(child.stderr)]);
  if (status.kind === "exited" && status.code === expectedCode) return "works";
  return isPassing(status, complaint) ? "not now" : "never";
}

/** Whether the reason is temporary, so that it may work at another time. Pure. */
export function isPassing(status: ExitStatus, complaint: string): boolean {
  if (status.kind === "failed") return !["ENOENT", "EACCES", "EPERM", "ENOEXEC"].includes(status.code ?? "");
  if (status.kind === "signalled") return status.signal !== "SIGSYS";
  // Without an error message, the shell exits with 1 or the expected code; any other means that it could not run.
  if (complaint === "") return status.code !== 1;
  return /temporarily unavailable|too many open files|cannot allocate memory|cannot fork/i.test(complaint);
}

async function getText(stream: AsyncIterable<Buffer>): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of stream) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}
