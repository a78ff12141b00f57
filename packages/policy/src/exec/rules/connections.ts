/** Raw connections, copies to other machines, and tunnels. */
import { runCode } from "../programs/code.ts";
import { getZone } from "../paths.ts";
import { forNames, getOperands, isInformation, resolveAll, type Judge, type Judges } from "../programs/invocation.ts";
import { runOption } from "../programs/option-code.ts";
import { parseOptions } from "../programs/options.ts";
import { joinWords } from "../programs/shells.ts";
import { report, type Scope } from "../shell/analysis.ts";
import { isKnown, joinOrigins, origins, unknown, type Options, type Text } from "../shell/text.ts";
import { judgeContainerSocket } from "./container-sockets.ts";
import { judgeCopy } from "./copy.ts";
import { isRemote, rsyncSpec } from "./delete.ts";
import { isLocalHost } from "./hosts.ts";
import { judgeSent, judgeUpload } from "./network.ts";

const received: Options<Text> = [unknown(origins.network)];

/** What a connection sends when something is piped into it. */
function judgePiped(scope: Scope, to: string): void {
  const hasInput = scope.stdin.some(({ text, origin }) => text !== "" || origin !== 0);
  if (!hasInput) return;
  const origin = joinOrigins(scope.stdin);
  if ((origin & origins.shell) !== 0) report(scope, "critical", "reverse_shell", `It gives a shell ${to}.`);
  judgeSent(origin, scope, to);
  const isFixed = origin === 0 && scope.stdin.every(({ text }) => isKnown(text));
  report(scope, isFixed ? "medium" : "high", "exfiltration", `It sends its input ${to}.`);
}

const nc: Judge = ({ name, args }, scope) => {
  if (isInformation(args)) return;
  const options = parseOptions(args, {
    short: "e:c:g:G:i:I:o:O:p:P:q:s:T:V:w:W:x:X:m:M:zvlnurkdtUChDFSNbZ46R",
    long: "exec= sh-exec= lua-exec= source-port= source= wait= proxy= proxy-type= proxy-auth= output= hex-dump= idle-timeout= listen keep-open zero verbose udp ssl send-only recv-only allow= deny= broker chat no-shutdown",
  });
  const programs = options.get("e", "exec", "c", "sh-exec", "lua-exec");
  if (programs.length > 0) {
    report(scope, "critical", "reverse_shell", `${name} gives another machine a program to talk to.`);
    for (const program of programs) runCode(program, [], scope);
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

const socat: Judge = ({ args }, scope) => {
  const ends = getOperands(args);
  const sockets = ends.flatMap((end) =>
    /^(?:unix|gopen|open)/i.test(end.text)
      ? resolveAll({ ...end, text: end.text.replace(/^[\w-]+:/, "").split(",")[0]! }, scope)
      : [],
  );
  const isShared = ends.some(({ text }) => /^(?:tcp|udp|openssl|ssl|vsock)\w*-l/i.test(text));
  judgeContainerSocket(sockets, scope, isShared || asksForChange(scope.stdin));
  const program = ends.find(({ text }) => /^(?:exec|system|shell)[:=]/i.test(text));
  const isOnNetwork = ends.some(({ text }) => /^(?:tcp|udp|openssl|ssl|sctp|socks|proxy|vsock)\w*[-:]/i.test(text));
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
    const isListening = ends.some(({ text }) => /listen/i.test(text));
    report(scope, "medium", isListening ? "reverse_shell" : "exfiltration", "socat connects to another machine.");
    for (const file of ends.filter(({ text }) => /^(?:file|open|gopen):/i.test(text)))
      judgeUpload({ ...file, text: file.text.replace(/^\w+:/, "").split(",")[0]! }, scope, "to another machine");
    judgePiped(scope, "to another machine");
  }
  return received;
};

const telnet: Judge = ({ name, args }, scope) => {
  const [host] = getOperands(args);
  if (!host || isLocalHost(host.text)) return;
  report(scope, "medium", "exfiltration", `${name} connects to ${host.text}.`);
  judgePiped(scope, `to ${host.text}`);
  return received;
};

const openssl: Judge = ({ args }, scope) => {
  const texts = args.map(({ text }) => text);
  if (texts[0] !== "s_client") return;
  const address = args[texts.indexOf("-connect") + 1];
  if (!address || isLocalHost(address.text.split(":")[0]!)) return received;
  const origin = joinOrigins(scope.stdin);
  if (scope.stdin.some(({ text }) => text !== "") && origin !== 0) judgePiped(scope, `to ${address.text}`);
  else report(scope, "medium", "exfiltration", `It connects to ${address.text}.`);
  return received;
};

const sshSpec = {
  short: "1246AaCfGgKkMNnqsTtVvXxYyB:b:c:D:E:e:F:I:i:J:L:l:m:O:o:p:Q:R:S:W:w:",
  stopsAtOperand: true,
};

const ssh: Judge = ({ args }, scope) => {
  if (args.some(({ text }) => /^-[VGQ]/.test(text))) return;
  const options = parseOptions(args, sshSpec);
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
const copyRemote: Judge = ({ name, args }, scope) => {
  if (isInformation(args)) return;
  const options = parseOptions(args, name === "rsync" ? rsyncSpec : { short: "346ABCOpqRrsTvc:D:F:i:J:l:o:P:S:X:b:a" });
  for (const program of options.get("S")) if (!/(?:^|\/)ssh$/.test(program.text)) runOption(program, scope);
  for (const program of options.get("e", "rsh", "rsync-path")) {
    if (!/^(?:rsync|sudo rsync)(?:\s+-\w[^;|&`$]*)?$/.test(program.text)) runCode(program, [], scope);
  }
  for (const option of options.get("o"))
    if (/^ProxyCommand[ =]/i.test(option.text)) runCode({ ...option, text: option.text.slice(13) }, [], scope);
  const target = options.operands.at(-1);
  if (name === "sftp" && target) {
    report(scope, "medium", "exfiltration", `sftp connects to ${target.text}.`);
    judgePiped(scope, `to ${target.text}`);
    const isUploading = options.has("b") || scope.stdin.some(({ text }) => /\bm?put\b/.test(text));
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
const sendAll: Judge = ({ name, args }, scope) => {
  if (isInformation(args)) return;
  for (const arg of args) judgeSent(arg.origin, scope, `with ${name}`);
  judgePiped(scope, `with ${name}`);
  report(scope, "high", "exfiltration", `${name} sends data to another machine.`);
};

/** Programs that make this machine reachable from outside. */
const tunnel: Judge = ({ name, args }, scope) => {
  if (isInformation(args) || args.length === 0) return;
  report(scope, "high", "exfiltration", `${name} makes this machine reachable from outside.`);
};

/** `logger -n HOST` sends its text to another machine. */
const logger: Judge = ({ args }, scope) => {
  if (args.some(({ text }) => /^(?:-n|--server)/.test(text)))
    judgeSent(joinOrigins(args) | joinOrigins(scope.stdin), scope, "to another machine");
};

/** Programs that let others use a shell of this machine. */
const shareShell: Judge = ({ name, args }, scope) => {
  // websocat is also a plain client.
  if (isInformation(args) || (name === "websocat" && !args.some(({ text }) => /^(?:cmd|sh-c|exec):/.test(text))))
    return;
  report(scope, "high", "reverse_shell", `${name} gives others a shell.`);
};

export const connectionRules: Judges = {
  ...forNames("ttyd gotty tmate websocat shellinaboxd wetty pwncat rcat ztcp", shareShell),
  ...forNames("nc ncat netcat nc.traditional nc.openbsd", nc),
  ...forNames("telnet rlogin", telnet),
  ...forNames("ssh autossh mosh", ssh),
  ...forNames("scp sftp rsync", copyRemote),
  ...forNames(
    "mail mailx mutt sendmail msmtp swaks ftp tftp lftp ncftp ncftpput smbclient sendemail s-nail wormhole croc transfer.sh rsh rcp cadaver",
    sendAll,
  ),
  ...forNames("ngrok cloudflared localtunnel lt bore frpc chisel zrok pagekite tailscale", tunnel),
  socat,
  openssl,
  logger,
};
