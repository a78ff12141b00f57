/** Clients of services that the person is signed in to, containers and clusters: what they copy, change and run there. */
import { runCode } from "../code/run-code.ts";
import { getZone } from "../paths.ts";
import type { OptionSpec } from "../programs/program.ts";
import { type Scope, deepen, report } from "../shell/analysis.ts";
import { isCredentialPath } from "../shell/files.ts";
import { type Text, hasOrigin, isKnown, joinOrigins, origins, unknown } from "../shell/text.ts";
import { judgeClient } from "./destroy.ts";
import { isRemote } from "./files.ts";
import { getHost, isLocalHost } from "./addresses.ts";
import { type Judge, getOperands, hasArg, resolveAll } from "./invocation.ts";
import { judgePublished, judgeSent, judgeUpload } from "./network.ts";
import { parseOptions } from "./options.ts";
import { joinWords } from "./shells.ts";

const isBucket = (text: string) => /^(?:s3|gs|az|b2|r2|oss|cos|https?):\/\//.test(text);

/** `aws s3 cp FILE s3://BUCKET`. */
export const awsCopy: Judge = ({ args, program }, scope) => {
  const [service, verb, from, to] = getOperands(parseOptions(args, program).operands);
  if (service?.text !== "s3" || !/^(?:cp|mv|sync)$/.test(verb?.text ?? "")) return;
  if (from && to && isBucket(to.text) && !isBucket(from.text)) judgeUpload(from, scope, `to ${to.text}`);
  else report(scope, "medium", "exfiltration", "It copies data of the cloud.");
};

export const gcloud: Judge = ({ name, args }, scope) => {
  const words = getOperands(args);
  const text = words.map((word) => word.text).join(" ");
  // A configuration of credentials says where to ask for them, and holds none.
  const onlyReads =
    /^(?:auth (?:list|print-|application-default print)|(?:iam|ad|role|keyvault) .*\b(?:list|describe|show|download|create-cred-config)(?: |$)|keyvault list)/.test(
      text,
    );
  if (/^(?:auth|login|logout|iam|ad|keyvault|role) ?/.test(text) && !onlyReads)
    report(scope, "high", "credential_change", `${name} changes stored logins.`);
  else if (/(?:storage|blob|cp|rsync|upload)/.test(text)) {
    const [from, to] = words.filter((word) => /[/.]/.test(word.text));
    if (from && to && isBucket(to.text) && !isBucket(from.text)) judgeUpload(from, scope, `to ${to.text}`);
    else if (/upload/.test(text)) report(scope, "high", "exfiltration", "It uploads data to the cloud.");
  }
};

export const copyCloud: Judge = ({ name, args }, scope) => {
  const [verb, from, to] = getOperands(args);
  if (/^(?:config|authorize)$/.test(verb?.text ?? ""))
    report(scope, "high", "credential_change", `${name} changes stored logins.`);
  else if (
    /^(?:copy|sync|move|copyto|moveto|cp|put|mirror|rsync|mv|upload-file|upload)$/.test(verb?.text ?? "") &&
    from
  ) {
    const isUpload = to === undefined || isRemote(to.text) || isBucket(to.text) || /^\w+\//.test(to.text);
    if (isUpload && !isRemote(from.text)) judgeUpload(from, scope, `to ${to?.text ?? "the cloud"}`);
  } else if (/^(?:serve|mount)$/.test(verb?.text ?? ""))
    report(scope, "medium", "exfiltration", `${name} shares files.`);
};

/** `gh api graphql -f query=…` only reads, unless it asks for a mutation. */
const isQuery = (args: readonly Text[]) =>
  args.some(({ text }) => text === "graphql") && args.every(({ text }) => !/\bmutation\b|=@|^--input/.test(text));

export const gh: Judge = ({ name, args }, scope) => {
  const words = getOperands(args);
  const [area, verb] = words.map(({ text }) => text);
  const call = `${area} ${verb ?? ""}`.trim();
  if (/^(?:gist (?:create|edit)|snippet create)/.test(call)) {
    for (const file of words.slice(2)) judgeUpload(file, scope, `to ${name}`);
    report(scope, "high", "exfiltration", `${name} ${call} publishes data.`);
  } else if (
    /^(?:auth (?:login|logout|refresh|setup-git|switch)|secret (?:set|delete)|ssh-key (?:add|delete)|gpg-key (?:add|delete)|variable set|deploy-key add|ruleset)/.test(
      call,
    )
  )
    report(scope, "high", "credential_change", `${name} ${call} changes credentials.`);
  else if (/^(?:alias set|extension (?:install|create|upgrade))/.test(call))
    report(scope, "high", "persistence", `${name} ${call} changes what later calls run.`);
  else if (/^(?:repo|release|project|codespace|cache) delete/.test(call))
    report(scope, "high", "recursive_delete", `${name} ${call} deletes what others use.`);
  else if (
    /^(?:release (?:create|upload|edit|delete)|repo (?:create|fork|sync|edit|rename|archive)|pr (?:create|merge|comment|close|review|edit|ready)|issue (?:create|comment|close|edit|delete)|workflow (?:run|enable|disable)|mr )/.test(
      call,
    )
  ) {
    report(scope, "medium", "exfiltration", `${name} ${call} changes something that others see.`);
    judgeSent(joinOrigins(args), scope, `with ${name}`);
  } else if (area === "api" && !isQuery(args) && hasArg(args, /^(?:-X|--method|-f|-F|--field|--raw-field|--input)/))
    report(
      scope,
      hasArg(args, /^(?:-X|--method=?)?DELETE$/i) ? "high" : "medium",
      "exfiltration",
      `${name} api sends data.`,
    );
};

const globalSpec: OptionSpec = {
  options: "c:H:l:D config= context= host= log-level= tls tlscacert= debug",
  stopsAtOperand: true,
};
const runSpec: OptionSpec = {
  options:
    "a:c:e:h:l:m:p:u:v:w:ditP volume= mount= privileged pid= userns= ipc= uts= network= net= cap-add= cap-drop= device= security-opt= env= env-file= name= workdir= user= publish= entrypoint= label= memory= cpus= restart= platform= add-host= hostname= pull= tmpfs= ulimit= gpus= shm-size= link= log-driver= log-opt= dns= expose= cgroupns= volumes-from= mac-address= ip= stop-signal= stop-timeout= health-cmd= runtime= rm=? detach=? interactive=? tty=? init=? read-only=? publish-all=? sig-proxy=? index=",
  stopsAtOperand: true,
};

export const docker: Judge = (invocation, scope) => {
  const { name, args } = invocation;
  const general = parseOptions(args, globalSpec);
  const hosts = (scope.state.variables.get("DOCKER_HOST") ?? []).flat();
  for (const { text } of [...general.get("H", "host"), ...hosts])
    if (/^(?:tcp|ssh|https?):/.test(text) && !isLocalHost(getHost(text) ?? ""))
      report(scope, "medium", "exfiltration", `${name} works on ${text}.`);
  const [first, ...more] = general.operands;
  const isNested = /^(?:containers?|pod|machine|compose|image|volume|system|buildx|builder)$/.test(first?.text ?? "");
  const composed = isNested
    ? parseOptions(more, {
        options: "f:p: file= project-name= profile= env-file= project-directory=",
        stopsAtOperand: true,
      }).operands
    : [];
  const command = isNested ? composed[0]?.text : first?.text;
  const rest = isNested ? composed.slice(1) : more;
  if (/^(?:run|create|exec)$/.test(command ?? "")) return runContainer(name, command!, rest, scope);
  if (/^(?:logs|attach)$/.test(command ?? "")) return [unknown(origins.network)];
  if (/^(?:ps|ls|list|images)$/.test(command ?? "")) return [unknown(origins.processes)];
  if (command === "unshare" && rest.length > 0) return scope.interpreter.runCommand(rest, deepen(scope));
  if (command === "push") {
    report(scope, "high", "exfiltration", `${name} push uploads an image.`);
    judgePublished(scope, `with ${name}`);
  }
  if (isDeletingData(first?.text, command, rest))
    report(scope, "medium", "recursive_delete", `${name} deletes data of containers.`);
  if (command === "build" || command === "bud") judgeBuild(name, rest, scope);
  if (command === "login" || command === "logout")
    report(scope, "high", "credential_change", `${name} ${command} changes stored logins.`);
  if (
    /^(?:swarm|stack|service)$/.test(first?.text ?? "") &&
    /^(?:init|join|leave|deploy|create|update|scale)$/.test(more[0]?.text ?? "")
  )
    report(scope, "medium", "persistence", `${name} ${first!.text} changes what runs on a cluster.`);
  if (/^(?:swarm|stack|service|node|secret|config)$/.test(first?.text ?? ""))
    judgeClient({ ...invocation, args: more }, scope);
  if (command === "cp") for (const arg of rest) if (!/^[\w.-]+:/.test(arg.text)) judgeMount(arg, scope, "medium");
  return undefined;
};

/** Everything at once, also by the names that another command lists: data that no image has. */
function isDeletingData(area = "", command = "", args: readonly Text[]): boolean {
  if (command === "reset") return area === "system" || area === "machine";
  if (command === "prune") return /^(?:volume|container|pod|system)$/.test(area);
  if (area === "compose") return command === "down" && hasArg(args, /^(?:-v|--volumes)$/);
  const isAll = (arg: Text) => /^(?:-\w*a\w*|--all)$/.test(arg.text) || hasOrigin(arg, origins.processes);
  return /^(?:rm|rmi|remove|kill)$/.test(command) && args.some(isAll);
}

/** Judges what a build is given of the host, and where its result goes. */
function judgeBuild(name: string, args: readonly Text[], scope: Scope): void {
  const options = parseOptions(args, {
    options:
      "f:t:o:v:m:c:q secret= build-context= volume= ssh= file= tag= build-arg= target= platform= output= cache-from= cache-to= label= network= progress= push load pull no-cache quiet",
  });
  if (options.has("push")) report(scope, "high", "exfiltration", `${name} build uploads an image.`);
  const named = [...options.get("secret"), ...options.get("build-context")].flatMap((option) => {
    const source = /(?:^|,)[\w.-]+=((?:[~/.]|\$)[^,]*)$/.exec(option.text)?.[1];
    return source === undefined ? [] : [{ ...option, text: source }];
  });
  for (const volume of options.get("v", "volume")) named.push({ ...volume, text: volume.text.split(":")[0]! });
  for (const source of named) judgeMount(source, scope, "critical");
}

function runContainer(name: string, command: string, args: readonly Text[], scope: Scope) {
  const options = parseOptions(args, runSpec);
  const values = (...names: string[]) => options.get(...names).map(({ text }) => text);
  const isOpen =
    options.has("privileged") ||
    values("pid", "userns", "ipc", "uts", "cgroupns").some((text) => text === "host") ||
    values("cap-add").some((text) =>
      /^(?:cap_)?(?:all|sys_admin|sys_ptrace|sys_module|dac_override|dac_read_search|sys_rawio|net_admin)$/i.test(text),
    ) ||
    values("security-opt").some((text) => /unconfined|no-new-privileges[:=]false|label[:=]disable/.test(text)) ||
    options.has("device");
  if (isOpen)
    report(
      scope,
      command === "exec" ? "high" : "critical",
      "privilege_escalation",
      `${name} ${command} gives a container rights on the host.`,
    );
  if (values("restart").some((text) => /^(?:always|unless-stopped)$/.test(text)))
    report(scope, "medium", "persistence", `${name} starts the container again by itself.`);
  for (const volume of options.get("v", "volume"))
    judgeMount({ ...volume, text: volume.text.split(":")[0]! }, scope, "critical");
  for (const mount of options.get("mount")) {
    const source = /(?:^|,)(?:source|src)=([^,]*)/.exec(mount.text)?.[1];
    if (source) judgeMount({ ...mount, text: source }, scope, "critical");
  }
  const [, ...words] = options.operands;
  const [entry] = options.get("entrypoint");
  const whole = entry && entry.text !== "" ? [entry, ...words] : words;
  if (whole.length === 0 || whole[0]!.text.startsWith("-")) return undefined;
  // An image has its own files, so only code that is known to be harmful anywhere matters inside.
  const outputs = scope.interpreter.runCommand(whole, deepen(scope, { state: scope.state.clone() }));
  return outputs.map((output) => (isKnown(output.text) ? output : unknown(toForeign(output.origin))));
}

/** Marks what a container prints of its files, because it is not text of the project. */
const toForeign = (origin: number) => (origin & ~origins.trusted) | origins.network;

/** A directory of the host that a container sees. */
function judgeMount(source: Text, scope: Scope, tier: "critical" | "medium"): void {
  if (!/[/~.]/.test(source.text)) return;
  for (const path of resolveAll(source, scope)) {
    const { context } = scope.analysis;
    const zone = getZone(path, context);
    const isSocket = /\/(?:docker|containerd|podman|crio)\.sock$/.test(path);
    const reason = `A container sees ${path} of the host.`;
    if (
      isSocket ||
      zone === "root" ||
      path === "/etc" ||
      path.startsWith("/etc/") ||
      path.startsWith("/dev/") ||
      path.startsWith("/proc/") ||
      path.startsWith("/sys/")
    ) {
      if (path !== "/etc/localtime" && path !== "/etc/timezone")
        report(
          scope,
          isSocket || zone === "root" ? tier : tier === "critical" ? "critical" : "medium",
          "privilege_escalation",
          reason,
        );
    } else if (zone === "home" || isCredentialPath(path, context))
      report(scope, "high", "privilege_escalation", reason);
    else if (zone === "in-home" || zone === "system") report(scope, "medium", "privilege_escalation", reason);
  }
}

export const kubectl: Judge = ({ name, args }, scope) => {
  const command = args.find(({ text }) => !text.startsWith("-"))?.text;
  const end = args.findIndex(({ text }) => text === "--");
  if ((command === "exec" || command === "run" || command === "debug") && end >= 0) {
    report(scope, "medium", "privilege_escalation", `${name} ${command} runs a command in a cluster.`);
    return scope.interpreter.runCommand(args.slice(end + 1), deepen(scope, { state: scope.state.clone() }));
  }
  if (hasArg(args, /^--dry-run(?:=(?:client|server))?$/)) return undefined;
  const isWatching = command === "rollout" && hasArg(args, /^(?:status|history)$/);
  if (
    !isWatching &&
    /^(?:apply|create|delete|replace|patch|edit|set|label|annotate|expose|autoscale|scale|drain|cordon|uncordon|taint|rollout|run|cp)$/.test(
      command ?? "",
    )
  )
    report(scope, "medium", "privilege_escalation", `${name} ${command} changes a cluster.`);
  if (command === "config" && args.some(({ text }) => text.startsWith("set")))
    report(scope, "high", "credential_change", `${name} changes stored logins.`);
  return undefined;
};

/** `vagrant ssh -c CODE`, `adb shell CMD`, `heroku run CMD`. */
export const remoteShell: Judge = ({ name, args }, scope) => {
  const index = args.findIndex(({ text }) => /^(?:shell|run|-c|--command|ssh)$/.test(text));
  const inner = index >= 0 ? args.slice(index + 1).filter(({ text }) => !/^(?:-c|--command|--)$/.test(text)) : [];
  if (inner.length === 0) return;
  report(scope, "medium", "opaque_exec", `${name} runs a command elsewhere.`);
  runCode(joinWords(inner), [], scope);
};
