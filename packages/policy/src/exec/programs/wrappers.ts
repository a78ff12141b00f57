/** Programs that run another program which is named in their arguments. */
import { judgeAssignment } from "../rules/variables.ts";
import { judgeOutput } from "../rules/output-options.ts";
import { deepen, inSubshell, report, type Scope } from "../shell/analysis.ts";
import { emptyText, known, limitOptions, origins, unknown, type Options, type Text } from "../shell/text.ts";
import { runCode } from "./code.ts";
import { isInformation, type Invocation, type Judge, type Judges } from "./invocation.ts";
import { parseOptions, type OptionSpec } from "./options.ts";
import { joinWords } from "./shells.ts";

interface Wrapper extends OptionSpec {
  /** Operands before the command: a duration, a file, a host. */
  skip?: number;
  /** Whether there may be one operand more before the command. */
  maySkip?: boolean;
  /** Options whose value is a line of shell code. */
  code?: readonly string[];
  /** Options whose value is a file that is written, or a program behind a `|`. */
  writes?: readonly string[];
  /** Whether the words of the command are joined and given to a shell. */
  joins?: boolean;
}

/** GNU and util-linux programs with all of their options: an unknown one means that the command cannot be found. */
const strict: Record<string, Wrapper> = {
  nice: { short: "n:0123456789", long: "adjustment= help version" },
  nohup: { long: "help version" },
  setsid: { short: "cfw", long: "ctty fork wait help version" },
  stdbuf: { short: "i:o:e:", long: "input= output= error= help version" },
  ionice: { short: "c:n:p:P:u:t", long: "class= classdata= pid= pgid= uid= ignore help version" },
  timeout: { short: "k:s:vfp", long: "kill-after= signal= foreground preserve-status verbose help version", skip: 1 },
  time: {
    short: "pf:o:avqV",
    long: "portability format= output= append verbose quiet help version",
    writes: ["o", "output"],
  },
  chrt: { short: "abfioT:P:D:mpRrdv", long: "all-tasks batch fifo idle other rr deadline max pid verbose", skip: 1 },
  taskset: { short: "acp", long: "all-tasks cpu-list pid help version", skip: 1 },
  flock: {
    short: "sxnuw:E:oFc:e",
    long: "shared exclusive nonblock unlock wait= timeout= conflict-exit-code= close no-fork command= verbose",
    skip: 1,
    code: ["c", "command"],
  },
  unbuffer: { short: "p" },
  chronic: { short: "ev" },
  catchsegv: {},
  setarch: { short: "hvRFZLXBIST3q:", long: "uname-2.6 verbose addr-no-randomize 32bit", maySkip: true },
  linux32: { short: "RFZLXBIST3" },
  linux64: { short: "RFZLXBIST3" },
  numactl: { short: "i:N:m:C:p:l", long: "interleave= cpunodebind= membind= physcpubind= preferred= localalloc all" },
  caffeinate: { short: "disut:w:" },
  "cross-env": {},
  "cross-env-shell": { joins: true },
  fakeroot: { short: "l:s:i:uhv", long: "lib= faked= save= load= unknown-is-real" },
  faketime: { short: "mpf", skip: 1 },
  torify: {},
  torsocks: { short: "diuaP:pq" },
  proxychains: { short: "qf:" },
  proxychains4: { short: "qf:" },
};

/** Programs with many options of their own: their command is the rest after what looks like options. */
const lenient: Record<string, Wrapper> = {
  strace: { short: "o:e:p:s:u:E:a:I:O:S:P:b:X:", long: "output= trace= attach= user=", writes: ["o", "output"] },
  ltrace: { short: "o:e:p:s:u:l:n:a:A:D:F:x:", long: "output=", writes: ["o", "output"] },
  valgrind: { long: "tool= log-file= xml-file= suppressions=", writes: ["log-file", "xml-file"] },
  perf: { short: "e:F:o:p:t:C:u:G:D:r:m:x:", long: "output=", writes: ["o", "output"] },
  "xvfb-run": { short: "e:f:n:p:s:w:al", long: "server-args= server-num= error-file= auth-file=" },
  "dbus-run-session": { long: "config-file= dbus-daemon=" },
  "systemd-run": {
    short: "p:E:M:H:tPqGSrd",
    long: "unit= property= description= slice= uid= gid= setenv= working-directory= on-calendar= on-active= on-boot= timer-property= machine= host= nice= user scope pty pipe quiet wait collect shell",
  },
  "systemd-inhibit": { long: "what= who= why= mode=" },
  firejail: { long: "profile=" },
  bwrap: { long: "bind= ro-bind= dev-bind= tmpfs= proc= dev= dir= chdir= setenv= unsetenv= unshare-all" },
  rlwrap: {},
  entr: { short: "acdnprs:xz", code: ["s"] },
  watchexec: { short: "e:w:i:s:d:", long: "exts= watch= ignore=" },
  dotenv: { short: "e:f:v:" },
  dotenvx: { skip: 1 },
  envdir: { skip: 1 },
  sshpass: { short: "p:f:d:P:eV" },
  catatonit: {},
  tini: { short: "gsvwp:e:" },
  "dumb-init": { short: "cr:v" },
  gosu: { skip: 1 },
  "su-exec": { skip: 1 },
  setpriv: {
    long: "reuid= regid= groups= inh-caps= ambient-caps= bounding-set= no-new-privs clear-groups init-groups keep-groups",
  },
  cgexec: { short: "g:" },
  prlimit: { short: "p:c:d:e:f:i:l:m:n:q:r:s:t:u:v:x:y:" },
  runcon: { skip: 1 },
  nsenter: {
    short: "t:S:G:amuipnUCTrwFZ",
    long: "target= setuid= setgid= root=? wd=? all mount=? uts=? ipc=? net=? pid=? user=? cgroup=? time=?",
  },
  unshare: {
    short: "muinpUCTfrcR:w:S:G:",
    long: "mount=? uts=? ipc=? net=? pid=? user=? cgroup=? time=? fork map-root-user map-current-user root= wd= setuid= setgid= mount-proc=? kill-child=? keep-caps",
  },
  chroot: { long: "groups= userspec= skip-chdir", skip: 1 },
  arch: {},
  doas: { short: "a:C:Lnsu:" },
  pkexec: { long: "user= disable-internal-agent keep-cwd" },
  run0: { long: "unit= user= group= chdir= setenv= background= via-shell" },
  dzdo: { short: "u:g:p:nSEHis" },
  xterm: { short: "e", hasSingleDash: true, long: "hold geometry= title=", joins: true },
  konsole: { short: "e" },
  "gnome-terminal": { long: "title= working-directory= tab window" },
  "ssh-agent": { short: "a:E:P:t:cDdks" },
  poetry: { skip: 1 },
  pipenv: { skip: 1 },
};

/** Wrappers whose first operand must be this word: `poetry run X` runs X, `poetry install` does not. */
const subcommands: Record<string, RegExp> = {
  poetry: /^run$/,
  pipenv: /^run$/,
  perf: /^(?:record|stat|trace|bench)$/,
  dotenvx: /^run$/,
};

function runWrapped({ name, args }: Invocation, scope: Scope): Options<Text> | undefined {
  const wrapper = strict[name] ?? lenient[name]!;
  if (isInformation(args)) return undefined;
  const required = subcommands[name];
  if (required && !required.test(args[0]?.text ?? "")) return undefined;
  const rest = required ? args.slice(1) : args;
  const options = parseOptions(rest, { ...wrapper, stopsAtOperand: true });
  if (strict[name] && options.unknown.length > 0) {
    report(
      scope,
      "high",
      "opaque_exec",
      `${name} has an unknown option ${options.unknown[0]}, so its command is not certain.`,
    );
  }
  for (const code of options.get(...(wrapper.code ?? []))) runCode(code, [], scope);
  for (const file of options.get(...(wrapper.writes ?? []))) judgeOutput(file, scope);
  if ([...options.names].some((option) => /^on-|^timer-/.test(option))) {
    report(scope, "high", "persistence", `${name} runs a command later.`);
  } else if (name === "systemd-run") {
    report(scope, "medium", "persistence", "systemd-run starts a command that nobody here holds.");
  }
  const commands = strict[name] ? [options.operands] : findCommands(rest, wrapper);
  const skipped = required ? 0 : (wrapper.skip ?? 0);
  // `setarch` may be given the name of an architecture first.
  const starts = wrapper.maySkip ? [skipped, skipped + 1] : [skipped];
  const outputs = commands.flatMap((command) => starts.map((start) => runRest(command.slice(start), wrapper, scope)));
  return outputs.length === 0 ? [emptyText] : limitOptions(outputs.flat());
}

/**
 * Where the command of a lenient wrapper may begin. A word behind an option that is not known may be its value or the
 * command, so both are judged.
 */
function findCommands(args: readonly Text[], wrapper: Wrapper): (readonly Text[])[] {
  const commands: (readonly Text[])[] = [];
  const end = known("x");
  for (let index = 0; index < args.length; index++) {
    const { operands, unknown: strange } = parseOptions([args[index]!, end], { ...wrapper, stopsAtOperand: true });
    const isOption = operands[0] !== args[index];
    if (!isOption || args[index]!.text === "--") return [...commands, args.slice(isOption ? index + 1 : index)];
    if (operands.length === 0) index++;
    else if (strange.length > 0 && !/=/.test(args[index]!.text) && /^[^-]/.test(args[index + 1]?.text ?? "-"))
      commands.push(args.slice(++index));
  }
  return commands;
}

function runRest(command: readonly Text[], wrapper: Wrapper, scope: Scope): Options<Text> {
  const words = skipAssignments(command, scope);
  if (words.length === 0) return [emptyText];
  // `flock FILE -c CODE` and `watchexec -s` put their code behind an operand.
  if (words[0]!.text === "-c" && words[1]) return runCode(words[1], words.slice(2), scope);
  return wrapper.joins ? runCode(joinWords(words), [], scope) : scope.interpreter.runCommand(words, deepen(scope));
}

/** `env A=b CMD` and the like. */
export function skipAssignments(words: readonly Text[], scope: Scope): readonly Text[] {
  let index = 0;
  for (; index < words.length; index++) {
    const match = /^([^=]*)=(.*)$/s.exec(words[index]!.text);
    if (!match) break;
    const value = { ...words[index]!, text: match[2]! };
    judgeAssignment(match[1]!, value, scope);
    scope.state.set(match[1]!, [[value]]);
  }
  return words.slice(index);
}

const runEnv: Judge = ({ args }, outer) =>
  isInformation(args) ? undefined : inSubshell(outer, (scope) => runInEnvironment(args, scope));

function runInEnvironment(args: readonly Text[], scope: Scope): Options<Text> {
  const options = parseOptions(args, {
    short: "iu:C:S:P:0v",
    long: "ignore-environment unset= chdir= split-string= null debug block-signal=? default-signal=? ignore-signal=? argv0= list-signal-handling",
    stopsAtOperand: true,
  });
  if (options.unknown.length > 0)
    report(scope, "high", "opaque_exec", `env has an unknown option ${options.unknown[0]}.`);
  for (const directory of options.get("C", "chdir"))
    scope.interpreter.runCommand([{ text: "cd", origin: 0 }, directory], scope);
  const [split] = options.get("S", "split-string");
  if (split) return runCode(joinWords([split, ...options.operands]), [], scope);
  const words = skipAssignments(options.operands, scope);
  if (words.length === 0) return [unknown(origins.secret)];
  return scope.interpreter.runCommand(words, deepen(scope));
}

/** Programs whose arguments are one line of code for a shell. */
const joined: Record<string, OptionSpec> = {
  watch: {
    short: "n:bcdegtrpqCwx",
    long: "interval= differences=? beep color errexit chgexit no-title exec precise",
    stopsAtOperand: true,
  },
  hyperfine: {
    short: "w:r:m:M:p:c:n:s:S:N",
    long: "warmup= runs= prepare= cleanup= command-name= shell= export-json= export-markdown= parameter-list=",
  },
  concurrently: { short: "n:c:k", long: "names= prefix= kill-others success=" },
  pee: {},
  mispipe: {},
  "npm-run-all": {},
  nodemon: { short: "x:e:w:", long: "exec= ext= watch=" },
  sbatch: { long: "wrap=" },
  script: { short: "c:qfaeB:I:O:T:t", long: "command= quiet flush append return" },
};

const runJoined: Judge = ({ name, args }, scope) => {
  const options = parseOptions(args, joined[name]!);
  for (const code of options.get("c", "command", "x", "exec", "p", "prepare", "cleanup", "wrap").slice(0, 8))
    runCode(code, [], scope);
  if (name === "watch") return runCode(joinWords(options.operands), [], scope);
  if (/^(?:hyperfine|concurrently|pee|mispipe)$/.test(name))
    for (const code of options.operands.slice(0, 16)) runCode(code, [], scope);
  return undefined;
};

export const wrappers: Judges = {
  ...Object.fromEntries([...Object.keys(strict), ...Object.keys(lenient)].map((name) => [name, runWrapped])),
  ...Object.fromEntries(Object.keys(joined).map((name) => [name, runJoined])),
  env: runEnv,
};

export { runWrapped };
