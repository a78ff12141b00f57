/**
 * Code of other languages is not parsed. Calls that run programs, delete, write or connect are found by their names, and
 * the literals in them are judged as commands and paths. Code that does such things in a way that cannot be read is
 * reported as not known.
 */
import { deepen, report, type Scope } from "../shell/analysis.ts";
import { unescapeAll } from "../shell/printf.ts";
import { hasOrigin, known, origins, unknown, type Text } from "../shell/text.ts";
import { addLink, judgeDelete } from "../rules/files.ts";
import { judgeWrite } from "../rules/write.ts";
import { runCode } from "./run-code.ts";
import { judgeConnections, judgeLiterals, judgeLoops, judgeSystemCalls } from "./inline-effects.ts";
import { resolveAll } from "../rules/invocation.ts";
import { findCalls, findLiterals, findShellCode, foldLiterals, inlineNames, type Call } from "./code-calls.ts";
import { replaceHome } from "./home-expressions.ts";

const runners =
  /(?<![\w$])(system|popen[234]?|exec(?:l|le|lp|lpe|v|ve|vp|vpe|Sync|File|FileSync)?|spawn(?:l|le|lp|lpe|v|ve|vp|vpe|Sync)?|posix_spawnp?|check_output|check_call|call|run|Popen|getoutput|getstatusoutput|shell_exec|passthru|proc_open|pcntl_exec|execute|capture[23]e?|pipeline|create_subprocess_(?:shell|exec)|do shell script|Start-Process|Invoke-Expression|iex|shell-command|os:cmd|callCommand|callProcess|readProcess|spawnCommand|System\.cmd|Deno\.Command)(?=\s*(?:\(|["'`[]|\*?%w|q[qw]?\s?[({[/|!]))/g;
const removers =
  /(rmtree|rmSync|rmdirSync|rmdir|rm_rf|rm_r|rm_f|rm|remove_tree|remove_entry_secure|remove_entry|removedirs|remove_dir_all|removeSync|emptyDirSync|rimraf(?:\.sync)?|unlinkSync|unlink|deltree|remove|Remove-Item|deleteDirectory)!?\s*(?=[("'\s])/g;
const writers =
  /(open|write_text|write_bytes|writeFileSync|writeFile|appendFileSync|appendFile|createWriteStream|file_put_contents|fopen|write|copyFileSync|copyfile|copy2?|copytree|cpSync|symlinkSync|symlink|rename|renameSync|move|cp|mv|ln_s)(?:\s*(?=\()|(?<=open)\s+(?=(?:my\s+)?[$\w]+\s*,))/g;
const linkers =
  /(?<![\w$])(symlinkSync|symlink|linkSync|link|ln_s|ln_sf|make_symlink|symlink_to|hardlink_to|mklink)\s*(?=[("'])/g;
const listers = /(walk|listdir|scandir|glob|iglob|rglob|readdirSync|readdir|entries|children|find)\s*(?=\()/g;

const dynamic =
  /\b(?:getattr|__import__|importlib|globals|locals|__builtins__|eval|Function|compile|vm\.|send|public_send|instance_eval|constantize|call_user_func|create_function|assert|include|require_once)\b|\bexec\s*\((?!\s*["'])|\[\s*["'`]\w+["'`]\s*\]\s*\(/;
const decoders =
  /b64decode|decodebytes|unhexlify|fromhex|base64|atob|fromCharCode|\bchr\s*\(|zlib|marshal|codecs|rot_?13|unpack\s*\(?|pack\s*[("']|decode64|bytes\s*\(\s*\[|Buffer\.from|hex2bin|str_rot13|gzinflate|FromBase64String|\[::-1\]|reverse/i;
const active =
  /\b(?:subprocess|child_process|ctypes|pty|__import__|importlib|Open3|dlopen|ffi)\b|os\.(?:system|exec|spawn|popen|kill|fork|remove|unlink|rename|chmod|chown|setuid)|\b(?:system|popen|spawn|fork|unlink|eval)\s*[("'{]/;

const maxCodeLength = 20_000;
const charactersOfStep = 60;

/** Judges code of another language. `language` is one of the interpreters' names. */
export function judgeInlineCode(code: Text, language: string, scope: Scope): void {
  const text = code.text.slice(0, maxCodeLength);
  // Code in code is read again at each level.
  scope.analysis.step(2 + text.length / charactersOfStep);
  const source = foldLiterals(inlineNames(replaceHome(text, scope.analysis.context.home)));
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

/** Programs that the code starts. */
function judgePrograms(source: string, language: string, scope: Scope): void {
  const hasBackticks = /^(?:perl|ruby|php|lua|julia)$/.test(language);
  const quoted = hasBackticks ? findShellCode(source) : [...findTagged(source), ...findExecuted(source)];
  for (const code of quoted.slice(0, 8)) runCode(known(code), [], scope);
  const tcl =
    language === "tclsh" || language === "expect"
      ? [...source.matchAll(/\b(?:exec|spawn)\s+([^\n;]+)/g)].map(([, code]) => code!)
      : [];
  for (const code of tcl.slice(0, 8)) runCode(known(code), [], scope);
  for (const code of findPipes(source).slice(0, 8)) runCode(known(code), [], scope);
  // `exec {"rm"} LIST` of Perl runs the program in the braces, whatever the list says.
  const plain = language === "perl" ? source.replace(/\b(exec|system)\s*\{([^{}]{1,200})\}/g, "$1 $2,") : source;
  for (const call of findCalls(plain, runners).slice(0, 16)) runCall(call, language, scope);
  if (language === "pwsh") runCode(known(source), [], { ...scope, command: null });
}

/** `$`CODE`` of JavaScript. */
const findTagged = (source: string): string[] => [...source.matchAll(/\$`([^`]+)`/g)].map(([, code]) => code!);

/** `"CODE".execute()` of Groovy and `"CODE".!` of Scala. */
const findExecuted = (source: string): string[] =>
  [...source.matchAll(/"([^"\n]{1,400})"\s*\.\s*(?:execute\(|!)/g)].map(([, code]) => code!);

/** `open(P, "| CODE")`, `open P, "CODE |"` and `open(P, "-|", CODE)` of Perl and Ruby. */
const findPipes = (source: string): string[] =>
  findCalls(source, writers)
    .filter(({ name }) => name === "open")
    .flatMap(({ literals }) =>
      /^(?:-\||\|-)$/.test(literals[0]?.trim() ?? "")
        ? [literals.slice(1).join(" ")]
        : literals.filter((literal) => /^\s*\||\|\s*$/.test(literal)).map((literal) => literal.replaceAll("|", " ")),
    );

/** Runs a literal as a line of code, and several as a program with its arguments. */
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
  for (const { literals } of findCalls(source, linkers).slice(0, 8)) {
    const [from, to] = literals.length > 1 ? literals : [unknown().text, literals[0]];
    if (to) addLink({ source: known(from!), target: known(to), isSymbolic: true }, scope);
  }
  for (const [, words] of source.matchAll(/\bfile\s+delete\s+([^\n;]{1,200})/g))
    for (const word of words!.split(/\s+/))
      if (!word.startsWith("-")) judgeDelete(known(word), scope, { isRecursive: true });
  const lists = findCalls(source, listers).flatMap((call) => getPaths(call));
  for (const call of findCalls(source, removers).slice(0, 16)) {
    const isRecursive =
      /rmtree|rm_r|rm_rf|remove_tree|removedirs|remove_dir_all|rimraf|removeSync|emptyDir|remove_entry|Remove-Item|deltree/.test(
        call.name,
      ) || /recurs/i.test(call.text);
    const paths = getPaths(call);
    for (const path of paths) judgeDelete(path, scope, { isRecursive });
    if (paths.length > 0) continue;
    for (const path of lists) judgeDelete({ ...path, text: `${path.text}/*` }, scope, { isRecursive: true });
    if (isRecursive && lists.length === 0 && call.text.trim() !== "") {
      report(scope, "medium", "recursive_delete", "The code deletes a directory that is not known before.");
    }
  }
  for (const call of findCalls(source, writers).slice(0, 16)) {
    const isReading = call.name === "open" || call.name === "fopen";
    if (
      isReading &&
      !/["'](?:[wax]|r\+|>>?|\+<)[bt+]*["']|mode\s*=\s*["'][wax]|O_WRONLY|O_RDWR|["']>>?/.test(call.text)
    )
      continue;
    const isCopy = /copy|cp|symlink|rename|move|mv|ln_s/.test(call.name);
    const paths = getPaths(call).filter(({ text }) => !/^(?:[wax]\+?b?|>>?|utf-?8)$/i.test(text));
    for (const path of isCopy ? paths.slice(-1) : paths.slice(0, 2))
      for (const full of resolveAll({ ...path, text: path.text.replace(/^>>?\s*/, "") }, scope))
        if (/[/.~]/.test(path.text)) judgeWrite(full, scope);
  }
  for (const [, path] of source.matchAll(
    /Path\(\s*["']([^"']+)["']\s*\)\.(?:write_text|write_bytes|open\(\s*["'][wax])/g,
  ))
    for (const full of resolveAll(known(path!), scope)) judgeWrite(full, scope);
  // `<~/x/*>` is a list of files in Perl.
  const patterns = [...source.matchAll(/<(~[^<>\n]{1,200})>/g)].map(([, pattern]) => pattern!);
  judgeLiterals([...findLiterals(source), ...patterns], scope);
}

const getPaths = (call: Call): Text[] => call.literals.map((literal) => known(literal));

/** Code that is put together when it runs. */
function judgeHidden(source: string, language: string, scope: Scope): void {
  // Modules that start programs may be called by any name.
  const isIndirect = dynamic.test(source) || /child_process|subprocess/.test(source);
  if (!isIndirect && !decoders.test(source)) return;
  const literals = findLiterals(source);
  for (const literal of literals.slice(0, 12)) {
    const decoded = decodeLiteral(literal);
    if (decoded) {
      judgeInlineCode(known(decoded), language, deepen(scope));
      runDangerous(decoded, scope);
    }
    if (isIndirect) runDangerous(literal, scope);
  }
  const runs =
    /\b(?:eval|exec|Function|compile|system|popen|spawn\w*|execSync|subprocess|__import__|getattr|assert|iex|EncodedCommand)\b/.test(
      source,
    );
  if (
    runs &&
    decoders.test(source) &&
    /b64decode|decodebytes|unhexlify|fromhex|atob|fromCharCode|\bchr\b|zlib|marshal|rot_?13|decode64|hex2bin|gzinflate|FromBase64String|\["?base64|["']base64["']|pack\s*[("']/i.test(
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
