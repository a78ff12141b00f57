/** Raw connections, copies to other machines, and tunnels. */
import { runCode } from "../code/run-code.ts";
import { getZone } from "../paths.ts";
import { getOperands, hasArg, isInformation, type Judge, resolveAll } from "./invocation.ts";
import { runOption } from "./option-code.ts";
import { parseOptions } from "./options.ts";
import { joinWords } from "./shells.ts";
import { report, type Scope } from "../shell/analysis.ts";
import { isKnown, joinOrigins, origins, unknown, type Options, type Text } from "../shell/text.ts";
import { isLocalHost, judgeContainerSocket } from "./addresses.ts";
import { isRemote, judgeCopy } from "./files.ts";
import { judgeSent, judgeUpload } from "./network.ts";

const received: Options<Text> = [unknown(origins.network)];

/** Judges what a connection sends when something is piped into it. */
function judgePiped(scope: Scope, to: string): void {
  const hasInput = scope.stdin.some(({ text, origin }) => text !== "" || origin !== 0);
  if (!hasInput) return;
  const origin = joinOrigins(scope.stdin);
  if ((origin & origins.shell) !== 0) report(scope, "critical", "reverse_shell", `It gives a shell ${to}.`);
  judgeSent(origin, scope, to);
  const isFixed = origin === 0 && scope.stdin.every(({ text }) => isKnown(text));
  report(scope, isFixed ? "medium" : "high", "exfiltration", `It sends its input ${to}.`);
}

export const netcat: Judge = ({ name, args, program }, scope) => {
  if (isInformation(args)) return;
  const options = parseOptions(args, program);
  const programs = options.get("e", "exec", "c", "sh-exec", "lua-exec");
  if (programs.length > 0) {
    report(scope, "critical", "reverse_shell", `${name} gives another machine a program to talk to.`);
    for (const code of programs) runCode(code, [], scope);
    return;
  }
  const [host] = options.operands;
  if (options.has("U") && host) {
    // A socket of this machine.
    judgeContainerSocket(resolveAll(host, scope), scope, asksForChange(scope.stdin));
    return received;
  }
  if (options.has("z", "zero") || (host && isLocalHost(host.text) && !options.has("l", "listen"))) return;
  if (options.has("l", "listen")) report(scope, "medium", "reverse_shell", `${name} waits for connections.`);
  else if (host) report(scope, "medium", "exfiltration", `${name} connects to ${host.text}.`);
  for (const arg of options.operands) judgeSent(arg.origin, scope, `to ${host?.text ?? "another machine"}`);
  judgePiped(scope, `to ${host?.text ?? "another machine"}`);
  return received;
};

/** Requests that are sent to a socket as they are. What is not known may be one. */
const asksForChange = (input: Options<Text>) =>
  input.some(({ text }) => !isKnown(text) || /^(?:POST|PUT|DELETE|PATCH)\b/im.test(text));

export const socat: Judge = ({ args }, scope) => {
  const ends = getOperands(args);
  const sockets = ends.flatMap((end) =>
    /^(?:unix|gopen|open)/i.test(end.text)
      ? resolveAll({ ...end, text: end.text.replace(/^[\w-]+:/, "").split(",")[0]! }, scope)
      : [],
  );
  const isShared = hasArg(ends, /^(?:tcp|udp|openssl|ssl|vsock)\w*-l/i);
  judgeContainerSocket(sockets, scope, isShared || asksForChange(scope.stdin));
  const program = ends.find(({ text }) => /^(?:exec|system|shell)[:=]/i.test(text));
  const isOnNetwork = hasArg(ends, /^(?:tcp|udp|openssl|ssl|sctp|socks|proxy|vsock)\w*[-:]/i);
  const isLocal = ends.every(
    ({ text }) =>
      !isOnNetwork ||
      /^(?:exec|system|stdio|-$|unix|file:|g?open:|pty)/i.test(text) ||
      /:(?:localhost|127\.0\.0\.1)[:,]/.test(text) ||
      /bind=(?:127|localhost)/.test(text),
  );
  if (program) {
    const code = program.text
      .replace(/^\w+[:=]/, "")
      .replace(/,(?:pty|stderr|setsid|sigint|sane|ctty|fork|echo=\d)\b.*$/, "")
      .replace(/^(['"])(.*)\1$/s, "$2");
    if (isOnNetwork && !isLocal)
      report(scope, "critical", "reverse_shell", "socat gives another machine a program to talk to.");
    runCode({ ...program, text: code }, [], scope);
  } else if (isOnNetwork && !isLocal) {
    const isListening = hasArg(ends, /listen/i);
    report(scope, "medium", isListening ? "reverse_shell" : "exfiltration", "socat connects to another machine.");
    for (const file of ends.filter(({ text }) => /^(?:file|open|gopen):/i.test(text)))
      judgeUpload({ ...file, text: file.text.replace(/^\w+:/, "").split(",")[0]! }, scope, "to another machine");
    judgePiped(scope, "to another machine");
  }
  return received;
};

export const telnet: Judge = ({ name, args }, scope) => {
  const [host] = getOperands(args);
  if (!host || isLocalHost(host.text)) return;
  report(scope, "medium", "exfiltration", `${name} connects to ${host.text}.`);
  judgePiped(scope, `to ${host.text}`);
  return received;
};

export const openssl: Judge = ({ args }, scope) => {
  const texts = args.map(({ text }) => text);
  if (texts[0] !== "s_client") return;
  const address = args[texts.indexOf("-connect") + 1];
  if (!address || isLocalHost(address.text.split(":")[0]!)) return received;
  const origin = joinOrigins(scope.stdin);
  if (scope.stdin.some(({ text }) => text !== "") && origin !== 0) judgePiped(scope, `to ${address.text}`);
  else report(scope, "medium", "exfiltration", `It connects to ${address.text}.`);
  return received;
};

export const ssh: Judge = ({ args, program }, scope) => {
  if (hasArg(args, /^-[VGQ]/)) return;
  const options = parseOptions(args, program);
  for (const option of options.get("o")) {
    const command =
      /^(?:ProxyCommand|LocalCommand|KnownHostsCommand|PermitLocalCommand|ProxyUseFdpass|RemoteCommand|Match\s+exec)[ =](.*)$/is.exec(
        option.text,
      )?.[1];
    if (command && !/^(?:none|yes|no)$/.test(command)) {
      report(scope, "high", "opaque_exec", "ssh runs a program of its own on this machine.");
      runCode({ ...option, text: command }, [], scope);
    }
  }
  judgeContainerSocket(
    options.get("L", "R").map(({ text }) => text),
    scope,
    options.has("R"),
  );
  for (const file of options.get("F"))
    if (resolveAll(file, scope).some((path) => getZone(path, scope.analysis.context) === "in-temp"))
      report(scope, "high", "opaque_exec", `ssh takes its settings from ${file.text}, which may run programs.`);
  if (options.has("R", "D", "w")) report(scope, "high", "reverse_shell", "ssh opens a way into this network.");
  const [host, ...rest] = options.operands;
  // Some services only answer whether a key is accepted.
  const command = rest[0]?.text === "--" ? rest.slice(1) : rest;
  if (!host) return undefined;
  judgePiped(scope, `to ${host.text}`);
  judgeSent(joinOrigins(command) & ~origins.file, scope, `to ${host.text}`);
  if (!(options.has("T") && host.text.startsWith("git@") && command.length === 0))
    report(scope, "medium", "exfiltration", `ssh connects to ${host.text}.`);
  if (command.length > 0) runCode(joinWords(command), [], scope);
  return received;
};

/** scp, sftp and rsync: copies to another machine send files, copies from there do not. */
export const copyRemote: Judge = ({ name, args, program }, scope) => {
  if (isInformation(args)) return;
  const options = parseOptions(args, program);
  for (const code of options.get("S")) if (!/(?:^|\/)ssh$/.test(code.text)) runOption(code, scope);
  for (const code of options.get("e", "rsh", "rsync-path"))
    if (!/^(?:rsync|sudo rsync)(?:\s+-\w[^;|&`$]*)?$/.test(code.text)) runCode(code, [], scope);
  for (const option of options.get("o"))
    if (/^ProxyCommand[ =]/i.test(option.text)) runCode({ ...option, text: option.text.slice(13) }, [], scope);
  const target = options.operands.at(-1);
  if (name === "sftp" && target) {
    report(scope, "medium", "exfiltration", `sftp connects to ${target.text}.`);
    judgePiped(scope, `to ${target.text}`);
    const isUploading = options.has("b") || hasArg(scope.stdin, /\bm?put\b/);
    if (isUploading) report(scope, "high", "exfiltration", `sftp copies files to ${target.text}.`);
    return;
  }
  if (!target) return;
  if (!options.operands.some(({ text }) => isRemote(text))) {
    // rsync has a rule of its own for copies on this machine.
    if (name === "scp") judgeCopy(options.operands.slice(0, -1), target, scope);
    return;
  }
  if (isRemote(target.text) && options.operands.length > 1)
    for (const source of options.operands.slice(0, -1)) judgeUpload(source, scope, `to ${target.text}`);
  else report(scope, "medium", "exfiltration", `${name} connects to another machine.`);
};

/** Mail, FTP and the like: everything that is given to them leaves the machine. */
export const sendAll: Judge = ({ name, args }, scope) => {
  if (isInformation(args)) return;
  for (const arg of args) judgeSent(arg.origin, scope, `with ${name}`);
  judgePiped(scope, `with ${name}`);
  report(scope, "high", "exfiltration", `${name} sends data to another machine.`);
};

/** `logger -n HOST` sends its text to another machine. */
export const logger: Judge = ({ args }, scope) => {
  if (hasArg(args, /^(?:-n|--server)/))
    judgeSent(joinOrigins(args) | joinOrigins(scope.stdin), scope, "to another machine");
};
