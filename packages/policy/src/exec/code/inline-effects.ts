/** Finds by their names the effects of inline code on processes, on the machine and over the network. */
import { isLocalHost, isMetadataHost, judgeContainerSocket } from "../rules/addresses.ts";
import { report, type Scope } from "../shell/analysis.ts";
import { isCredentialPath, isHistoryPath, isOwnCredentialPath, reportOwnSecrets } from "../shell/files.ts";
import { known } from "../shell/text.ts";
import { findLiterals } from "./code-calls.ts";
import { resolveAll } from "../rules/invocation.ts";

const network =
  /urlopen|urlretrieve|\brequests\b|httpx|http\.client|aiohttp|\bfetch\s*\(|axios|https?\.(?:get|request)|XMLHttpRequest|Net::HTTP|open-uri|URI\.open|LWP|HTTP::Tiny|curl_exec|file_get_contents\s*\(\s*["']https?:|socket|TCPSocket|fsockopen|net\.(?:connect|createConnection|Socket)|IO::Socket|dgram|smtplib|ftplib|paramiko|Invoke-WebRequest|WebClient|DownloadString|dns\.|gethostbyname|getaddrinfo|\/inet\/(?:tcp|udp)\//;
const sockets =
  /\bsocket\b|TCPSocket|TCPServer|UNIXSocket|fsockopen|pfsockopen|net\.(?:connect|createConnection|Socket|createServer)|require\(["'](?:node:)?(?:net|tls)["']\)|IO::Socket|Socket\b|sockaddr_in|inet_aton|TcpStream|TCPClient|\/inet\/(?:tcp|udp)\//;

/** Processes that multiply. */
export function judgeLoops(source: string, scope: Scope): void {
  const isEndless =
    /while\s*\(?\s*(?:True|true|1\b|:|!0|not\s+False)|for\s*\(\s*;\s*;\s*\)|loop\s*(?:do|\{|\()|\bforever\b|until\s*\(?\s*(?:false|0)|setInterval|itertools\.(?:count|repeat|cycle)|repeat\b|iter\(int,\s*1\)|\bredo\b/.test(
      source,
    );
  const forks = (source.match(/(?:\b|_)fork\b/g) ?? []).length;
  const isItself =
    /spawn|fork|exec|Popen|popen|system|subprocess|Process/.test(source) &&
    /process\.(?:argv|execPath)|__filename|__file__|sys\.(?:executable|argv)|\$0|\$PROGRAM_NAME|\$\^X|import\.meta/.test(
      source,
    );
  const repeats = /range\s*\(\s*\d{3,}|\.times|\*\*\s*\d|1e\d|\d{5,}/.test(source);
  const isFork =
    forks > 0 &&
    (isEndless ||
      forks > 2 ||
      repeats ||
      /fork\s+while|while\s+fork|fork\(?\)?\s*(?:&&|and|or|\|\|)\s*fork|fork;\s*fork/.test(source));
  const isSelfSpawn =
    isItself &&
    (isEndless ||
      /setTimeout|while/.test(source) ||
      callsItself(source) ||
      (source.match(/spawn|Popen|popen/g) ?? []).length > 1);
  const isEndlessStart =
    isEndless &&
    /\b(?:spawn|Popen|popen|Thread|Process)\b\s*\(/.test(source) &&
    !/\b(?:wait|join|communicate|sleep|spawnSync)\b/.test(source);
  if (isFork || isSelfSpawn || isEndlessStart)
    report(scope, "critical", "fork_bomb", "The code starts processes without end.");
}

const maxFunctions = 32;

/** Whether a function is called behind its definition, so perhaps by itself. */
function callsItself(source: string): boolean {
  const definitions = [...source.matchAll(/(?:function|def)\s+(\w{1,64})\s*\(/g)].slice(0, maxFunctions);
  return definitions.some(({ 0: head, 1: name, index }) => source.includes(`${name}(`, index + head.length));
}

/** Signals, rights and the power of the machine. */
export function judgeSystemCalls(source: string, scope: Scope): void {
  if (/\bkill(?:pg)?\s*\(?\s*(?:-1\b|["']?(?:SIG)?\w*["']?\s*,\s*-1\b|9\s*=>\s*-1)/.test(source))
    report(scope, "critical", "process_kill", "The code ends every process of the user.");
  if (
    /\bkill\s*\(?\s*(?:1\s*,|["']?(?:SIG)?(?:KILL|TERM|\d+)["']?\s*,\s*1\s*[,);\s]|["']?(?:KILL|TERM|9|15)["']?\s*,\s*1$)/.test(
      source,
    )
  )
    report(scope, "critical", "shutdown", "The code ends the first process of the machine.");
  if (/psutil\.process_iter|ps aux|\/proc\b/.test(source) && /\.kill\(|\.terminate\(|os\.kill/.test(source))
    report(scope, "high", "process_kill", "The code ends processes of others.");
  if (
    /\bset(?:e|re|res)?[ug]id\s*\(?\s*0|\bset(?:uid|gid)\b\s*\(|\bUID\s*=\s*0|\$[<>]\s*=\s*0|Process::(?:UID|Sys)/.test(
      source,
    )
  )
    report(scope, "high", "privilege_escalation", "The code changes the user that it runs as.");
  if (
    /chmod\w*\s*\(?[\s\S]{0,80}?0?o?[4567][0-7]{3}\b|S_ISUID|["'][ugoa]*[+=]\w*s["']/.test(source) &&
    /chmod/.test(source)
  )
    report(scope, "critical", "privilege_escalation", "The code makes a file run with the rights of its owner.");
  if (
    /\breboot\s*\(|(?:Stop|Restart)-Computer|(?:shut ?down|restart|sleep)[\s\S]{0,40}System Events|System Events[\s\S]{0,40}(?:shut ?down|restart)|ExitWindowsEx|RB_POWER_OFF|RB_AUTOBOOT/.test(
      source,
    )
  )
    report(scope, "critical", "shutdown", "The code stops the machine.");
}

/** Connections: shells for others, data that leaves, code that comes in. */
export function judgeConnections(source: string, scope: Scope): void {
  const literals = findLiterals(source);
  judgeContainerSocket(
    literals,
    scope,
    /\bPOST\b|containers?\.(?:run|create)|containers\/create|exec_run/.test(source),
  );
  const hosts = literals.flatMap((literal) => /^(?:\w+:\/\/)?(?:[^/@]*@)?([^/:?#\s]+)/.exec(literal)?.[1] ?? []);
  if (hosts.some(isMetadataHost) && network.test(source))
    report(scope, "critical", "exfiltration", "The code asks the cloud for the credentials of this machine.");
  const remoteHosts = hosts.filter((host) => !isLocalHost(host) && /^(?:[\w-]+\.)+\w+$/.test(host));
  const hasShell =
    /dup2|pty\.spawn|\/bin\/(?:ba|da|z)?sh\b|["'](?:ba|da|z)?sh["']|cmd\.exe|powershell|shell_exec|popen|os\.execute|\bexec\b|\bspawn|subprocess|os\.system|\bsystem\b|`|STDIN\s*,?\s*["'>]|>&S|backtick/.test(
      source,
    );
  if (
    sockets.test(source) &&
    hasShell &&
    !/gethostname|createServer|listen\b/.test(
      source.replace(/\.listen\(\s*\d*\s*\)[\s\S]{0,500}(?:dup2|spawn|popen)/, "bind shell"),
    )
  ) {
    report(scope, "critical", "reverse_shell", "The code gives another machine a shell.");
    return;
  }
  if (!network.test(source)) return;
  const runsCode =
    /\b(?:exec|eval|Function|compile|instance_eval|iex|Invoke-Expression|os\.system|system|runInThisContext|subprocess|execSync)\b/.test(
      source,
    );
  const reads =
    /\bopen\s*\(|read_text|readFile|File\.read|IO\.read|file_get_contents\s*\(\s*["'](?!http)|environ|process\.env|\bENV\b|getenv|\$ENV|slurp|Path\(/.test(
      source,
    );
  const sends =
    /\bPOST\b|\.post\b|\.put\b|data\s*=|body\s*:|json\s*=|files\s*=|params\s*=|\.send(?:all|to|file)?\s*\(|\.write\s*\(|\+\s*\w|\$\{|f["']|%s|\.format|sendmail|storbinary|urlencode|gethostbyname|\?/.test(
      source,
    );
  if (
    runsCode &&
    /urlopen|requests|fetch|https?\.get|LWP|Net::HTTP|open-uri|URI\.open|file_get_contents|DownloadString|WebClient|httpx|curl/.test(
      source,
    )
  )
    report(scope, "high", "pipe_to_shell", "The code runs what it receives from another machine.");
  else if (reads && sends) {
    const isCredential = literals.some((literal) => isCredentialLiteral(literal, scope));
    report(scope, isCredential ? "critical" : "high", "exfiltration", "The code sends data of this machine elsewhere.");
  } else if (remoteHosts.length > 0 || sockets.test(source)) {
    const connects = remoteHosts.length > 0 || /connect|\.send|fetch|get\(/.test(source);
    if (connects) report(scope, "medium", "exfiltration", "The code connects to another machine.");
  }
}

const resolveLiteral = (literal: string, scope: Scope): string[] =>
  /[/.~]/.test(literal) && literal.length < 300 ? resolveAll(known(literal), scope) : [];

const isCredentialLiteral = (literal: string, scope: Scope) =>
  resolveLiteral(literal, scope).some(
    (path) => isCredentialPath(path, scope.analysis.context) || isHistoryPath(path, scope.analysis.context),
  );

/** Reports code that names stored credentials in its literals. */
export function judgeLiterals(literals: readonly string[], scope: Scope): void {
  const own = literals
    .flatMap((literal) => resolveLiteral(literal, scope))
    .find((path) => isOwnCredentialPath(path, scope.analysis.context));
  if (own !== undefined) reportOwnSecrets(own, scope);
  else if (literals.some((literal) => isCredentialLiteral(literal, scope)))
    report(scope, "high", "exfiltration", "The code names stored credentials.");
}
