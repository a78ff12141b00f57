/** Programs that speak to other machines: what they send, and what they make of what they receive. */
import { hasArg, isInformation, type Judge, resolveAll } from "./invocation.ts";
import { runOption } from "./option-code.ts";
import { parseOptions } from "./options.ts";
import { report, type Scope } from "../shell/analysis.ts";
import { getFileOrigin, getWrittenOrigin, judgeRead, writeFile } from "../shell/files.ts";
import { emptyText, isKnown, joinOrigins, origins, unknown, type Options, type Text } from "../shell/text.ts";
import { getHost, isLocalHost, isMetadataHost, judgeContainerSocket } from "./addresses.ts";
import { judgeWrite } from "./write.ts";

const received: Options<Text> = [unknown(origins.network)];

/** Names of a program's own output, given where a file is expected. */
const isStdout = ({ text }: Text) => /^(?:-|\/dev\/(?:stdout|fd\/1)|\/proc\/self\/fd\/1)$/.test(text);

/** How bad it is to send a text elsewhere. */
export function judgeSent(origin: number, scope: Scope, what: string): void {
  if ((origin & origins.credential) !== 0) report(scope, "critical", "exfiltration", `It sends credentials ${what}.`);
  else if ((origin & (origins.secret | origins.encoded | origins.identity)) !== 0)
    report(scope, "high", "exfiltration", `It sends data of this machine ${what}.`);
  else if ((origin & (origins.token | origins.file)) !== 0)
    report(scope, "medium", "exfiltration", `It sends data of this machine ${what}.`);
}

/** Files that the script put into the current directory, where all of that is published. */
export function judgePublished(scope: Scope, what: string): void {
  const origin = getWrittenOrigin(scope.state.directories, scope);
  judgeSent(origin & (origins.credential | origins.secret), scope, what);
}

/** The content of a file that leaves the machine. */
export function judgeUpload(file: Text, scope: Scope, what: string): void {
  if (file.text === "-" || file.text === "." || file.text === "/dev/stdin") {
    const origin = joinOrigins(scope.stdin);
    judgeSent(origin, scope, what);
    report(scope, "high", "exfiltration", `It sends its input ${what}.`);
    return;
  }
  let origin = file.origin;
  for (const path of resolveAll(file, scope))
    origin |= getFileOrigin(path, scope.analysis.context) | joinOrigins(scope.state.files.get(path) ?? []);
  judgeSent(origin, scope, what);
  report(scope, "high", "exfiltration", `It sends the file ${file.text} ${what}.`);
}

/** Addresses among the arguments, and whether all of them are on this machine. */
function judgeAddresses(addresses: readonly Text[], scope: Scope): { isLocal: boolean; to: string } {
  for (const { text } of addresses)
    if (/^file:/i.test(text)) judgeRead(text.replace(/^file:(?:\/\/[^/]*)?/i, ""), scope);
  const hosts = addresses.map(({ text }) => getHost(text) ?? "");
  if (hosts.some(isMetadataHost))
    report(scope, "critical", "exfiltration", "It asks the cloud for the credentials of this machine.");
  return {
    isLocal: hosts.length > 0 && hosts.every(isLocalHost),
    to: `to ${addresses[0]?.text.slice(0, 100) ?? "another machine"}`,
  };
}

/** Options that lead to another machine than the address says. */
const detours = "x proxy preproxy socks4 socks4a socks5 socks5-hostname connect-to resolve doh-url dns-servers".split(
  " ",
);

/** Whether the script itself sets a proxy. */
const isProxied = ({ state }: Scope) => [...state.variables.keys()].some((name) => /^(?!no_)\w+_proxy$/i.test(name));

export const curl: Judge = ({ args, program }, scope) => {
  if (isInformation(args)) return;
  const options = parseOptions(args, program);
  const addresses = [...options.operands, ...options.get("url")];
  const { isLocal: isAddressLocal, to } = judgeAddresses(addresses, scope);
  const isLocal = isAddressLocal && !options.has(...detours) && !isProxied(scope);
  const files = options.get("o", "output");
  for (const file of [...files, ...options.get("D", "dump-header", "c", "cookie-jar", "trace", "stderr")])
    saveTo(file, scope);
  if (options.has("K", "config")) report(scope, "medium", "exfiltration", "It takes options from a file.");
  const changes =
    options.has("d", "data", "data-raw", "data-binary", "json", "T", "upload-file", "F", "form") ||
    options.get("X", "request").some(({ text }) => !/^(?:GET|HEAD)$/i.test(text));
  const sockets = options.get("unix-socket", "abstract-unix-socket").flatMap((file) => resolveAll(file, scope));
  judgeContainerSocket(sockets, scope, changes);
  const isSaved = options.has("O", "remote-name", "remote-name-all");
  if (isSaved) for (const address of addresses) saveAs(address, options.get("output-dir")[0], scope);
  if (!isLocal) judgeCurlData(options, addresses, scope, to);
  // Each `-o` and `-O` is for one address; what is left over is printed.
  const saved = options.has("remote-name-all") ? addresses.length : files.length + (isSaved ? 1 : 0);
  return files.some(isStdout) || saved < Math.max(addresses.length, 1) ? received : [emptyText];
};

/** A download to a file that is named. */
function saveTo(file: Text, scope: Scope): void {
  if (isStdout(file)) return;
  for (const path of resolveAll(file, scope)) {
    judgeWrite(path, scope);
    writeFile(path, received, scope);
  }
}

/** A download under its own name. */
function saveAs(address: Text, directory: Text | undefined, scope: Scope): void {
  const name = /([^/?#]+)(?:[?#].*)?$/.exec(address.text)?.[1];
  if (!name || !isKnown(name)) return;
  saveTo({ text: `${directory?.text ?? "."}/${name}`, origin: 0 }, scope);
}

function judgeCurlData(
  options: ReturnType<typeof parseOptions>,
  addresses: readonly Text[],
  scope: Scope,
  to: string,
): void {
  if (options.get("X", "request").some(({ text }) => /^(?:POST|PUT|PATCH|DELETE)$/i.test(text)))
    report(scope, "medium", "exfiltration", `It asks for a change ${to.replace(/^to /, "at ")}.`);
  for (const data of options.get("d", "data", "data-binary", "data-ascii", "data-urlencode", "json", "url-query")) {
    const file = /^(?:[^=@]*)@(.+)$/s.exec(data.text)?.[1];
    if (file) judgeUpload({ ...data, text: file }, scope, to);
    else if (joinOrigins([data]) !== 0) judgeSent(data.origin | (isKnown(data.text) ? 0 : origins.file), scope, to);
    else report(scope, "medium", "exfiltration", `It sends data ${to}.`);
  }
  for (const form of options.get("F", "form")) {
    const file = /=[@<]([^;]+)/.exec(form.text)?.[1];
    if (file) judgeUpload({ ...form, text: file }, scope, to);
    else report(scope, "medium", "exfiltration", `It sends data ${to}.`);
  }
  for (const file of options.get("T", "upload-file")) judgeUpload(file, scope, to);
  for (const value of [...options.get("data-raw", "form-string"), ...addresses])
    judgeSent(value.origin & ~origins.trusted, scope, to);
  for (const value of options.getAll("H header u user b cookie A user-agent e referer oauth2-bearer")) {
    judgeSent(value.origin & ~origins.file, scope, to);
    if (value.text.startsWith("@")) judgeUpload({ ...value, text: value.text.slice(1) }, scope, to);
  }
  for (const variable of options.get("variable")) {
    const file = /^%?\w+@(.+)$/s.exec(variable.text)?.[1];
    if (file) judgeUpload({ ...variable, text: file }, scope, to);
  }
}

export const wget: Judge = ({ args, program }, scope) => {
  if (isInformation(args)) return;
  const options = parseOptions(args, program);
  const { isLocal: isAddressLocal, to } = judgeAddresses(options.operands, scope);
  const isProxySet = options.get("e", "execute").some(({ text }) => /_proxy/i.test(text));
  const isLocal = isAddressLocal && !isProxySet && !isProxied(scope);
  if (options.has("config")) report(scope, "medium", "exfiltration", "It takes options from a file.");
  for (const code of options.get("use-askpass"))
    if (!/(?:^|\/)[\w-]*ssh-?askpass$/.test(code.text)) runOption(code, scope);
  judgeContainerSocket(
    args.map(({ text }) => text),
    scope,
    false,
  );
  for (const command of options.get("e", "execute"))
    if (/use_?askpass|output_?document/i.test(command.text))
      report(scope, "high", "opaque_exec", "wget runs or replaces another file.");
  for (const list of options.get("i", "input-file")) for (const path of resolveAll(list, scope)) judgeRead(path, scope);
  const files = options.get("O", "output-document");
  for (const file of files) saveTo(file, scope);
  if (files.length === 0)
    for (const address of options.operands) saveAs(address, options.get("P", "directory-prefix")[0], scope);
  if (!isLocal) {
    for (const file of options.get("post-file", "body-file")) judgeUpload(file, scope, to);
    for (const value of [...options.get("post-data", "body-data"), ...options.operands])
      judgeSent(value.origin, scope, to);
    for (const value of options.get("header", "user-agent", "referer"))
      judgeSent(value.origin & ~origins.file, scope, to);
    if (options.has("post-data", "body-data")) report(scope, "medium", "exfiltration", `It sends data ${to}.`);
  }
  return files.some(isStdout) ? received : [emptyText];
};

/** Other programs that fetch addresses: `http`, `aria2c`, browsers for terminals. */
export const fetchOther: Judge = ({ args, name }, scope) => {
  const texts = args.map(({ text }) => text);
  judgeContainerSocket(
    texts,
    scope,
    texts.some((text) => /^(?:POST|PUT|PATCH|DELETE)$/.test(text)),
  );
  const addresses = args.filter(({ text }) => /^\w+:\/\/|^[\w-]+(?:\.[\w-]+)+(?:[:/]|$)|^localhost/.test(text));
  if (addresses.length === 0) return undefined;
  const { isLocal, to } = judgeAddresses(addresses, scope);
  if (hasArg(args, /^--conf(?:ig)?(?:-path)?(?:=|$)/))
    report(scope, "medium", "exfiltration", "It takes options from a file.");
  if (!isLocal) {
    for (const arg of args) {
      judgeSent(arg.origin, scope, to);
      const file = /^[\w.-]+:?=?@(.+)$|^@(.+)$/.exec(arg.text);
      if (file && /^(?:https?|xh|xhs)$/.test(name)) judgeUpload({ ...arg, text: file[1] ?? file[2]! }, scope, to);
    }
    if (/^(?:https?|xh|xhs)$/.test(name)) {
      judgeSent(joinOrigins(scope.stdin), scope, to);
      if (args.some(({ text }) => /^(?:POST|PUT|PATCH)$/.test(text) || /^\w[\w.-]*:?=/.test(text)))
        report(scope, "medium", "exfiltration", `It sends data ${to}.`);
    }
  }
  // Downloaders save under the name of the address, or under the one that they are given.
  if (/^(?:aria2c|axel|wget2|lwp-download)$/.test(name)) {
    const file = args[args.findIndex(({ text }) => /^(?:-o|-O|--out|--output)$/.test(text)) + 1];
    if (file && file !== args[0]) saveTo(file, scope);
    else for (const address of addresses) saveAs(address, undefined, scope);
  }
  return received;
};

/** A name that is looked up may carry data. */
export const resolveName: Judge = ({ name, args }, scope) => {
  if (isInformation(args)) return;
  const names = args.filter(({ text }) => !/^(?:[-+@].*|[\d.]+)$/s.test(text) || isMetadataHost(text));
  const carriers = names.filter((text) => !isKnown(text.text) || text.origin !== 0);
  if (hasArg(carriers, /[.]/) && joinOrigins(carriers) !== 0)
    report(
      scope,
      (joinOrigins(carriers) & origins.credential) !== 0 ? "critical" : "high",
      "exfiltration",
      `The name that ${name} looks up carries data of this machine.`,
    );
  else if (hasArg(carriers, /\uFFFF.*\.\w|\w\.\uFFFF/))
    report(scope, "high", "exfiltration", `The name that ${name} looks up is not known before.`);
  else if (names.some(({ text }) => !isLocalHost(text) && text !== ""))
    report(scope, "medium", "exfiltration", `${name} asks the network for a name.`);
  return received;
};

export const getent: Judge = (call, scope) => {
  const [database, ...args] = call.args;
  return /^a?hosts/.test(database?.text ?? "") ? resolveName({ ...call, args }, scope) : undefined;
};
