/** Stopping the machine, and ending processes of others. */
import { forNames, getOperands, isInformation, type Judge, type Judges } from "../programs/invocation.ts";
import { parseOptions } from "../programs/options.ts";
import { report } from "../shell/analysis.ts";
import { hasPattern } from "../shell/pattern.ts";
import { isKnown, joinOrigins, origins, unknownMark } from "../shell/text.ts";

const stop: Judge = ({ name, args }, scope) => {
  if (isInformation(args)) return;
  const onlyAsks = name === "shutdown" && args.some(({ text }) => /^(?:-c|--show|-k)$/.test(text));
  report(scope, onlyAsks ? "medium" : "critical", "shutdown", `${name} stops the machine.`);
};

const init: Judge = ({ name, args }, scope) => {
  if (getOperands(args).some(({ text }) => /^[0-6sSqQaA]$/.test(text) || !isKnown(text)))
    report(scope, "critical", "shutdown", `${name} stops the machine.`);
};

const stopVerbs =
  /^(?:poweroff|reboot|halt|kexec|soft-reboot|suspend|hibernate|hybrid-sleep|suspend-then-hibernate|sleep|emergency|rescue|exit|default)$/;
const stopTargets =
  /^(?:poweroff|reboot|halt|kexec|shutdown|emergency|rescue|suspend|hibernate|sleep|runlevel[016]|ctrl-alt-del|exit)\.target$/;

const systemctl: Judge = ({ args }, scope) => {
  const options = parseOptions(args, {
    short: "t:n:o:H:M:p:P:s:qalfri",
    long: "type= state= lines= output= host= machine= property= signal= job-mode= root= message= when= user system no-pager quiet all now force no-block",
  });
  const [verb, ...units] = options.operands.map(({ text }) => text);
  if (!verb) return;
  if (
    stopVerbs.test(verb) ||
    (/^(?:start|isolate|enable)$/.test(verb) && units.some((unit) => stopTargets.test(unit)))
  ) {
    report(scope, "critical", "shutdown", `systemctl ${verb} stops the machine.`);
  } else if (
    /^(?:enable|reenable|link|edit|add-wants|add-requires|preset|revert|unmask|set-property|import-environment|set-environment)$/.test(
      verb,
    )
  ) {
    report(scope, "high", "persistence", `systemctl ${verb} makes a service start by itself.`);
  } else if (
    /^(?:start|stop|restart|reload|kill|disable|mask|daemon-reload|daemon-reexec|try-restart|reload-or-restart|isolate|reset-failed|set-default)$/.test(
      verb,
    )
  ) {
    report(
      scope,
      verb === "set-default" ? "high" : "medium",
      verb === "kill" ? "process_kill" : "persistence",
      `systemctl ${verb} changes services.`,
    );
  }
};

const loginctl: Judge = ({ args }, scope) => {
  const [verb] = getOperands(args).map(({ text }) => text);
  if (verb && stopVerbs.test(verb)) report(scope, "critical", "shutdown", `loginctl ${verb} stops the machine.`);
  else if (verb === "enable-linger") report(scope, "high", "persistence", "Services keep running after a logout.");
  else if (/^(?:terminate|kill)-/.test(verb ?? ""))
    report(scope, "high", "process_kill", `loginctl ${verb} ends all processes of a user.`);
};

const bus: Judge = ({ name, args }, scope) => {
  if (args.some(({ text }) => /(?:PowerOff|Reboot|Halt|Suspend|Hibernate|KExec|Shutdown)\b/.test(text)))
    report(scope, "critical", "shutdown", `${name} stops the machine.`);
};

const kill: Judge = ({ args }, scope) => {
  const texts = args.map(({ text }) => text);
  if (
    texts.length === 0 ||
    (texts.length === 1 && /^-\w/.test(texts[0]!) && !/^-0*1$/.test(texts[0]!)) ||
    /^-(?:l|L|-list|-table)/.test(texts[0]!)
  )
    return;
  const { signal, targets } = parseKill(texts);
  if (signal === "0" || /^(?:EXIT)$/i.test(signal)) return;
  const origin = joinOrigins(args);
  if (targets.some((target) => /^0*1$/.test(target)))
    report(scope, "critical", "shutdown", "It ends the first process of the machine.", {
      dangerousCommandClass: "process_termination",
    });
  if (targets.some((target) => /^-0*1$/.test(target)))
    report(scope, "critical", "process_kill", "It ends every process of the user.");
  else if (targets.some(hasPattern))
    report(scope, "critical", "process_kill", "It ends all processes whose numbers match a pattern.");
  else if (
    isRange(targets) ||
    ((origin & origins.counter) !== 0 && targets.some((target) => target.startsWith(unknownMark)))
  )
    report(scope, "critical", "process_kill", "It ends all processes whose numbers are in a range.");
  else if ((origin & origins.processes) !== 0 && targets.some((target) => !isKnown(target)))
    report(scope, "critical", "process_kill", "It ends all processes that are listed.");
  else if ((origin & origins.parent) !== 0)
    report(scope, "high", "process_kill", "It ends the program that runs this command.");
  else if (targets.some((target) => /^-\d/.test(target) && !/^-0*1$/.test(target)))
    report(scope, "medium", "process_kill", "It ends a group of processes.");
};

/** Numbers that follow each other belong to processes that nobody has chosen. */
const isRange = (targets: readonly string[]) =>
  targets.length >= minRange &&
  targets.every((target, index) => index === 0 || Math.abs(Number(target) - Number(targets[index - 1])) === 1);
const minRange = 8;

/** `kill -9 PID`, `kill -s KILL PID`, `kill -n 9 PID`, `kill -- -1`. */
function parseKill(texts: readonly string[]): { signal: string; targets: readonly string[] } {
  const [first = ""] = texts;
  if (/^(?:-s|-n|--signal)$/.test(first))
    return { signal: texts[1] ?? "", targets: texts.slice(2).filter((text) => text !== "--") };
  if (first.startsWith("--signal=")) return { signal: first.slice(9), targets: texts.slice(1) };
  if (first === "--") return { signal: "TERM", targets: texts.slice(1) };
  if (first.startsWith("-") && texts.length > 1)
    return { signal: first.slice(1), targets: texts.slice(1).filter((text) => text !== "--") };
  return { signal: "TERM", targets: texts };
}

/** Patterns that match the name of any process. */
export const matchesAll = /^(?:\.|\.\*|\.\+|\^|\$|\*|\[\S*|\^\.\*\$?|\w|\/|.{0,1}|\^?\.\S?|\(.*\)|.*\|\.\*?)$/;

const killByName: Judge = ({ name, args }, scope) => {
  if (isInformation(args) || args.some(({ text }) => text === "-l" || text === "--list")) return;
  const options = parseOptions(args, {
    short: name === "killall" ? "eIgilqrs:u:vwy:o:n:Z:0123456789" : "cd:efF:G:g:ilLnoP:r:s:t:u:U:vwxaHqzN0123456789",
    long: "signal= euid= uid= user= group= pgroup= parent= session= terminal= full exact newest oldest inverse ignore-case pidfile= ns= runstates= regexp younger-than= older-than= verbose wait interactive echo count",
  });
  const patterns = options.operands
    .map(({ text }) => text)
    .filter((text) => !/^-?(?:SIG)?(?:KILL|TERM|HUP|INT|\d+)$/.test(text));
  const isByUser = options.has("u", "U", "euid", "uid", "user");
  if (args.some(({ text }) => text === "-0")) return;
  if (options.has("v", "inverse") && name !== "killall")
    report(scope, "critical", "process_kill", "It ends every process but a few.");
  else if (patterns.some((pattern) => matchesAll.test(pattern)) && (name !== "killall" || options.has("r", "regexp")))
    report(scope, "critical", "process_kill", "The pattern matches every process.");
  else if (isByUser && patterns.length === 0) report(scope, "high", "process_kill", "It ends every process of a user.");
  else if (
    patterns.some(
      (pattern) =>
        /^(?:sshd?|systemd.*|init|Xorg|gnome-.*|kde.*|dockerd|containerd|tau|bash|sh|zsh|login|dbus.*)$/.test(
          pattern,
        ) || pattern.includes(unknownMark),
    )
  )
    report(scope, "high", "process_kill", `It ends processes of others: ${patterns.join(" ")}.`);
  else report(scope, "medium", "process_kill", `It ends processes by name: ${patterns.join(" ")}.`);
};

const killAll: Judge = ({ name }, scope) => report(scope, "critical", "process_kill", `${name} ends all processes.`);

export const systemRules: Judges = {
  ...forNames("shutdown reboot halt poweroff pm-suspend pm-hibernate pm-powersave systemd-sleep", stop),
  ...forNames("init telinit", init),
  ...forNames("dbus-send busctl gdbus qdbus osascript-dbus", bus),
  ...forNames("pkill killall skill xkill", killByName),
  ...forNames("killall5 slay", killAll),
  ...forNames("fuser", ({ args }, scope) => {
    if (args.some(({ text }) => /^-\w*k/.test(text) || text === "--kill"))
      report(scope, "medium", "process_kill", "It ends the processes that use a file or port.");
  }),
  ...forNames("rtcwake", ({ args }, scope) => {
    if (args.some(({ text }) => /^(?:off|mem|disk|standby)$|^(?:-m|--mode=?)(?:off|mem|disk|standby)/.test(text)))
      report(scope, "critical", "shutdown", "It stops the machine.");
  }),
  systemctl,
  loginctl,
  kill,
};
