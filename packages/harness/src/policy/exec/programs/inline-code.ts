/**
 * Code of other languages is not parsed. Calls that run programs, delete, write or connect are found by their names, and
 * the literals in them are judged as commands and paths. Code that does such things in a way that cannot be read is
 * reported as not known.
 */
import { deepen, report, type Scope } from "../shell/analysis.ts";
import { isCredentialPath } from "../shell/files.ts";
import { unescapeAll } from "../shell/printf.ts";
import { hasOrigin, known, origins, type Text } from "../shell/text.ts";
import { judgeDelete } from "../rules/delete.ts";
import { isLocalHost, isMetadataHost } from "../rules/hosts.ts";
import { judgeWrite } from "../rules/write.ts";
import { runCode } from "./code.ts";
import { resolveAll } from "./invocation.ts";
import { findCalls, findLiterals, foldLiterals, homeExpression, type Call } from "./code-calls.ts";

const runners =
  /(?<![\w$])(system|popen[234]?|exec(?:l|le|lp|lpe|v|ve|vp|vpe|Sync|File|FileSync)?|spawn(?:l|le|lp|lpe|v|ve|vp|vpe|Sync)?|posix_spawnp?|check_output|check_call|call|run|Popen|getoutput|getstatusoutput|shell_exec|passthru|proc_open|pcntl_exec|execute|capture[23]e?|pipeline|create_subprocess_(?:shell|exec)|do shell script|Start-Process|Invoke-Expression|iex|shell-command)(?=\s*(?:\(|["'`[]))/g;
const removers =
  /(rmtree|rmSync|rmdirSync|rmdir|rm_rf|rm_r|rm_f|rm|remove_tree|remove_entry_secure|remove_entry|removedirs|remove_dir_all|removeSync|emptyDirSync|rimraf(?:\.sync)?|unlinkSync|unlink|deltree|remove|Remove-Item|deleteDirectory)\s*(?=[("'\s])/g;
const writers =
  /(open|write_text|write_bytes|writeFileSync|writeFile|appendFileSync|appendFile|createWriteStream|file_put_contents|fopen|write|copyFileSync|copyfile|copy2?|copytree|cpSync|symlinkSync|symlink|rename|renameSync|move|cp|mv|ln_s)\s*(?=\()/g;
const listers = /(walk|listdir|scandir|glob|iglob|rglob|readdirSync|readdir|entries|children|find)\s*(?=\()/g;

const network =
  /urlopen|urlretrieve|\brequests\b|httpx|http\.client|aiohttp|\bfetch\s*\(|axios|https?\.(?:get|request)|XMLHttpRequest|Net::HTTP|open-uri|URI\.open|LWP|HTTP::Tiny|curl_exec|file_get_contents\s*\(\s*["']https?:|socket|TCPSocket|fsockopen|net\.(?:connect|createConnection|Socket)|IO::Socket|dgram|smtplib|ftplib|paramiko|Invoke-WebRequest|WebClient|DownloadString|dns\.|gethostbyname|getaddrinfo|\/inet\/(?:tcp|udp)\//;
const sockets =
  /\bsocket\b|TCPSocket|TCPServer|UNIXSocket|fsockopen|pfsockopen|net\.(?:connect|createConnection|Socket|createServer)|require\(["'](?:node:)?(?:net|tls)["']\)|IO::Socket|Socket\b|sockaddr_in|inet_aton|TcpStream|TCPClient|\/inet\/(?:tcp|udp)\//;
const dynamic =
  /\b(?:getattr|__import__|importlib|globals|locals|__builtins__|eval|Function|compile|vm\.|send|public_send|instance_eval|constantize|call_user_func|create_function|assert|include|require_once)\b|\bexec\s*\((?!\s*["'])|\[\s*["'`]\w+["'`]\s*\]\s*\(/;
const decoders =
  /b64decode|decodebytes|unhexlify|fromhex|base64|atob|fromCharCode|\bchr\s*\(|zlib|marshal|codecs|rot_?13|unpack\s*\(?|pack\s*\(|decode64|bytes\s*\(\s*\[|Buffer\.from|hex2bin|str_rot13|gzinflate|FromBase64String|\[::-1\]|reverse/i;
const active =
  /\b(?:subprocess|child_process|shutil|ctypes|pty|rmtree|__import__|importlib|Open3|FileUtils|dlopen|ffi)\b|os\.(?:system|exec|spawn|popen|kill|fork|remove|unlink|rename|chmod|chown|setuid)|\b(?:system|popen|spawn|fork|unlink|eval)\s*[("'{]/;

/** Judges code of another language. `language` is one of the interpreters' names. */
export function judgeInlineCode(code: Text, language: string, scope: Scope): void {
  scope.analysis.step(2);
  const source = foldLiterals(code.text.slice(0, 20_000));
  const before = scope.analysis.findings.length;
  judgeLoops(source, scope);
  judgeSystemCalls(source, scope);
  judgeConnections(source, scope);
  judgePrograms(source, language, scope);
  judgeFiles(source, scope);
  judgeHidden(source, language, scope);
  const isQuiet = scope.analysis.findings.length === before;
  if (isQuiet && (active.test(source) || hasOrigin(code, origins.encoded)))
    report(scope, "medium", "opaque_exec", "The code that it runs may start programs or change files.");
}

/** Processes that multiply. */
function judgeLoops(source: string, scope: Scope): void {
  const isEndless =
    /while\s*\(?\s*(?:True|true|1\b|:|!0|not\s+False)|for\s*\(\s*;\s*;\s*\)|loop\s*(?:do|\{|\()|\bforever\b|until\s*\(?\s*(?:false|0)|setInterval|itertools\.(?:count|repeat|cycle)|repeat\b|iter\(int,\s*1\)|\bredo\b/.test(
      source,
    );
  const forks = (source.match(/\bfork\b/g) ?? []).length;
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
      /function\s+(\w+)[\s\S]*\1\s*\(|def\s+(\w+)[\s\S]*\2\s*\(|setTimeout|while/.test(source) ||
      (source.match(/spawn|Popen|popen/g) ?? []).length > 1);
  const isEndlessStart =
    isEndless &&
    /\b(?:spawn|Popen|popen|Thread|Process)\b\s*\(/.test(source) &&
    !/\b(?:wait|join|communicate|sleep|spawnSync)\b/.test(source);
  if (isFork || isSelfSpawn || isEndlessStart)
    report(scope, "critical", "fork_bomb", "The code starts processes without end.");
}

/** Signals, rights and the power of the machine. */
function judgeSystemCalls(source: string, scope: Scope): void {
  if (/\bkill(?:pg)?\s*\(?\s*(?:-1\b|["']?(?:SIG)?\w*["']?\s*,\s*-1\b|9\s*=>\s*-1)/.test(source))
    report(scope, "critical", "process_kill", "The code ends every process of the user.");
  if (
    /\bkill\s*\(?\s*(?:1\s*,|["']?(?:SIG)?(?:KILL|TERM|\d+)["']?\s*,\s*1\s*[,);\s]|["']?(?:KILL|TERM|9|15)["']?\s*,\s*1$)/.test(
      source,
    )
  )
    report(scope, "critical", "shutdown", "The code ends the first process of the machine.");
  if (
    /psutil\.process_iter|ps aux|\/proc\b[\s\S]*\bkill/.test(source) &&
    /\.kill\(|\.terminate\(|os\.kill/.test(source)
  )
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
function judgeConnections(source: string, scope: Scope): void {
  const literals = findLiterals(source);
  const hosts = literals.flatMap((literal) => /^(?:\w+:\/\/)?(?:[^/@]*@)?([^/:?#\s]+)/.exec(literal)?.[1] ?? []);
  if (hosts.some(isMetadataHost) && network.test(source))
    report(scope, "critical", "exfiltration", "The code asks the cloud for the credentials of this machine.");
  const remoteHosts = hosts.filter((host) => !isLocalHost(host) && /^(?:[\w-]+\.)+\w+$/.test(host));
  const hasShell =
    /dup2|pty\.spawn|\/bin\/(?:ba|da|z)?sh\b|["'](?:ba|da|z)?sh["']|cmd\.exe|powershell|shell_exec|popen|os\.execute|\bexec\b|\bspawn|subprocess|os\.system|system\s*\(|`|STDIN\s*,?\s*["'>]|>&S|backtick/.test(
      source,
    );
  if (
    sockets.test(source) &&
    hasShell &&
    !/gethostname|createServer|listen\b/.test(
      source.replace(/\.listen\(\s*\d*\s*\)[\s\S]*(?:dup2|spawn|popen)/, "bind shell"),
    )
  ) {
    report(scope, "critical", "reverse_shell", "The code gives another machine a shell.");
    return;
  }
  if (!network.test(source)) return;
  const runsCode =
    /\b(?:exec|eval|Function|compile|instance_eval|load|require|iex|Invoke-Expression|os\.system|system|runInThisContext|subprocess|execSync)\b/.test(
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

const isCredentialLiteral = (literal: string, scope: Scope) =>
  /[/.~]/.test(literal) &&
  literal.length < 300 &&
  resolveAll(known(literal), scope).some((path) => isCredentialPath(path, scope.analysis.context));

/** Programs that the code starts. */
function judgePrograms(source: string, language: string, scope: Scope): void {
  const hasBackticks = /^(?:perl|ruby|php|lua|julia)$/.test(language);
  const quoted = hasBackticks
    ? [...source.matchAll(/`([^`]+)`|%x[({[]([^)}\]]+)[)}\]]|qx\s*[({[/|]([^)}\]/|]+)[)}\]/|]/g)].map(
        (match) => match[1] ?? match[2] ?? match[3]!,
      )
    : [];
  for (const code of quoted.slice(0, 8)) runCode(known(code), [], scope);
  const tcl =
    language === "tclsh" || language === "expect"
      ? [...source.matchAll(/\b(?:exec|spawn)\s+([^\n;]+)/g)].map(([, code]) => code!)
      : [];
  for (const code of tcl) runCode(known(code), [], scope);
  for (const call of findCalls(source, runners).slice(0, 16)) runCall(call, language, scope);
  if (language === "pwsh") runCode(known(source), [], { ...scope, command: null });
}

/** One literal is a line of code; several are a program with its arguments. */
function runCall(call: Call, language: string, scope: Scope): void {
  if (call.literals.length === 0) {
    const isCode = /^(?:exec|call|run|execute|pipeline)$/.test(call.name);
    if (!isCode && call.text.trim() !== "")
      report(scope, "medium", "opaque_exec", "The code starts a program that is not known before.");
    return;
  }
  // `exec("print(1)")` of Python runs Python.
  if (language === "python" && call.name === "exec") {
    judgeInlineCode(known(call.literals[0]!), language, deepen(scope));
    return;
  }
  const words = call.literals.map((literal) => known(literal.replaceAll("$HOME", scope.analysis.context.home)));
  if (words.length === 1) runCode(words[0]!, [], scope);
  else {
    scope.interpreter.runCommand(words, deepen(scope, { stdin: [known("")] }));
    if (/\s/.test(words[0]!.text)) runCode(words[0]!, [], scope);
  }
}

/** Files that the code deletes, writes or reads. */
function judgeFiles(source: string, scope: Scope): void {
  const lists = findCalls(source, listers).flatMap((call) => getPaths(call, scope));
  for (const call of findCalls(source, removers).slice(0, 16)) {
    const isRecursive =
      /rmtree|rm_r|rm_rf|remove_tree|removedirs|remove_dir_all|rimraf|removeSync|emptyDir|remove_entry|Remove-Item|deltree/.test(
        call.name,
      ) || /recurs/i.test(call.text);
    const paths = getPaths(call, scope);
    for (const path of paths) judgeDelete(path, scope, { isRecursive });
    if (paths.length === 0)
      for (const path of lists) judgeDelete({ ...path, text: `${path.text}/*` }, scope, { isRecursive: true });
  }
  for (const call of findCalls(source, writers).slice(0, 16)) {
    const isReading = call.name === "open" || call.name === "fopen";
    if (
      isReading &&
      !/["'](?:[wax]|r\+|>>?|\+<)[bt+]*["']|mode\s*=\s*["'][wax]|O_WRONLY|O_RDWR|["']>>?/.test(call.text)
    )
      continue;
    const isCopy = /copy|cp|symlink|rename|move|mv|ln_s/.test(call.name);
    const paths = getPaths(call, scope).filter(({ text }) => !/^(?:[wax]\+?b?|>>?|utf-?8)$/i.test(text));
    for (const path of isCopy ? paths.slice(-1) : paths.slice(0, 2))
      for (const full of resolveAll({ ...path, text: path.text.replace(/^>>?\s*/, "") }, scope))
        if (/[/.~]/.test(path.text)) judgeWrite(full, scope);
  }
  for (const [, path] of source.matchAll(
    /Path\(\s*["']([^"']+)["']\s*\)\.(?:write_text|write_bytes|open\(\s*["'][wax])/g,
  ))
    for (const full of resolveAll(known(path!), scope)) judgeWrite(full, scope);
  if (findLiterals(source).some((literal) => isCredentialLiteral(literal, scope)))
    report(scope, "high", "exfiltration", "The code names stored credentials.");
}

/** Literal paths of a call, and expressions for the home directory. */
function getPaths(call: Call, scope: Scope): Text[] {
  const paths = call.literals.filter((literal) => literal !== "HOME").map((literal) => known(literal));
  if (!homeExpression.test(call.text)) return paths;
  const { home } = scope.analysis.context;
  const rest = call.literals
    .filter((literal) => literal !== "HOME" && literal !== "~")
    .map((literal) => `/${literal.replace(/^\/+/, "")}`);
  return [known(home + (rest[0] ?? "")), ...paths];
}

/** Code that is put together when it runs. */
function judgeHidden(source: string, language: string, scope: Scope): void {
  if (!dynamic.test(source) && !decoders.test(source)) return;
  const literals = findLiterals(source);
  for (const literal of literals.slice(0, 12)) {
    const decoded = decodeLiteral(literal);
    if (decoded) {
      judgeInlineCode(known(decoded), language, deepen(scope));
      runDangerous(decoded, scope);
    }
    if (dynamic.test(source)) runDangerous(literal, scope);
  }
  const runs =
    /\b(?:eval|exec|Function|compile|system|popen|spawn\w*|execSync|subprocess|__import__|getattr|assert|iex|EncodedCommand)\b/.test(
      source,
    );
  if (
    runs &&
    decoders.test(source) &&
    /b64decode|decodebytes|unhexlify|fromhex|atob|fromCharCode|\bchr\b|zlib|marshal|rot_?13|decode64|hex2bin|gzinflate|FromBase64String|\["?base64|["']base64["']|pack\s*\(/i.test(
      source,
    )
  )
    report(scope, "high", "opaque_exec", "The code decodes other code and runs it.");
}

/** Text that looks like a command line of a program with rules, found in code that calls things by computed names. */
function runDangerous(text: string, scope: Scope): void {
  if (/^\s*(?:\S*\/)?[a-z][\w.-]*\s+[-/~\w]/.test(text)) runCode(known(text), [], scope);
}

function decodeLiteral(literal: string): string | undefined {
  const isHex = /^(?:[\da-f]{2}){4,}$/i.test(literal);
  if (!isHex && !/^[A-Za-z\d+/_-]{8,}={0,2}$/.test(literal)) return undefined;
  const text = Buffer.from(literal, isHex ? "hex" : "base64").toString("utf8");
  return /^[\t\n\r -~]+$/.test(text) ? unescapeAll(text) : undefined;
}
