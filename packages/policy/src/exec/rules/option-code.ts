/** Ordinary programs with an option that runs a command. */
import { baseName, getZone } from "../paths.ts";
import { isProgram } from "../programs/index.ts";
import { judgeDelete } from "./files.ts";
import { judgeOutput } from "./output-options.ts";
import { judgeWrites } from "./write.ts";
import { deepen, report, type Scope } from "../shell/analysis.ts";
import { joinOrigins, known, origins, unknown, type Text } from "../shell/text.ts";
import { runCode } from "../code/run-code.ts";
import { findLiterals } from "../code/code-calls.ts";
import { judgeInlineCode } from "../code/inline-code.ts";
import { hasArg, type Judge, resolveAll } from "./invocation.ts";
import { parseOptions } from "./options.ts";
import { joinWords } from "./shells.ts";

/** Whether it is one of the well-known programs that pack and unpack, found by its name alone, with options of its own. */
export const isCompressor = ({ text }: Text): boolean =>
  isProgram(text.trim().split(/\s/)[0]!, "compressor") && /^[\w\s.,=+-]*$/.test(text);

/** A program that an option names. Known compressors are harmless, but still unusual. */
export function runOption(program: Text, scope: Scope): void {
  const [name = ""] = program.text.trim().split(/\s/);
  if (isProgram(baseName(name), "compressor") && !/[;|&`$<>]/.test(program.text)) {
    report(scope, "medium", "opaque_exec", `An option runs ${name}.`);
    return;
  }
  report(scope, "high", "opaque_exec", `An option runs ${program.text.slice(0, 80)}.`);
  runCode(program, [], scope);
}

/** Options whose value is a program, code or a file that is written, and small languages in which some words run a command. */
export const judgeOptions: Judge = ({ args, program }, scope) => {
  const options = parseOptions(args, program);
  for (const code of options.getAll(program.runs)) runOption(code, scope);
  const input = { ...scope, stdin: [unknown(joinOrigins(scope.stdin) | joinOrigins(args) | origins.file)] };
  for (const code of options.getAll(program.code)) runCode(code, [], input);
  for (const text of program.embedded ? [...args, ...scope.stdin] : [])
    for (const [, code, other] of [...text.text.matchAll(program.embedded!)].slice(0, 8))
      runCode({ ...text, text: (code ?? other)! }, [], scope);
  for (const file of options.getAll(program.writes)) judgeOutput(file, scope);
};

/** `less +!CMD` runs it at the start. */
export const less: Judge = ({ args }, scope) => {
  for (const { text } of args) if (/^\+{1,2}!/.test(text)) runCode(known(text.replace(/^\++!/, "")), [], scope);
};

export const logrotate: Judge = ({ args, program }, scope) => {
  const options = parseOptions(args, program);
  if (!options.has("d", "debug", "help", "version")) judgeRotation(options.operands, scope);
};

/** `apt-get -o APT::Update::Pre-Invoke::=CODE`. */
export const apt: Judge = ({ args, program }, scope) => {
  for (const option of parseOptions(args, program).get("o", "option")) {
    const code = /(?:Pre-Invoke|Post-Invoke\w*|Pre-Install-Pkgs|Pre-Invoke-Success)\S*?=(.*)$/s.exec(option.text)?.[1];
    if (code) runOption({ ...option, text: code }, scope);
  }
};

/** Scripts in a configuration of logrotate run as it says. */
function judgeRotation(files: readonly Text[], scope: Scope): void {
  for (const path of files.flatMap((file) => resolveAll(file, scope))) {
    const isOfSystem = getZone(path, scope.analysis.context) === "system";
    report(scope, isOfSystem ? "medium" : "high", "opaque_exec", `logrotate runs the scripts of ${path}.`);
  }
}

export const man: Judge = ({ args, program }, scope) => {
  const options = parseOptions(args, program);
  for (const code of options.get("preprocessor", "p")) if (!/^[eptgrv]+$/.test(code.text)) runCode(code, [], scope);
  for (const program of options.get("P", "pager", "H", "html")) {
    if (/^(?:cat|less|more|most|bat|lynx|w3m|links|firefox)(?:\s+-[\w=-]+)*$/.test(program.text)) continue;
    report(scope, "high", "exfiltration", `man runs ${program.text} on its pages.`);
    runCode(program, [], scope);
  }
};

/** `:lua CODE` of editors, `python CODE` of gdb, `script CODE` of lldb. */
function judgeScript(text: Text, scope: Scope): void {
  const match =
    /(?:^|[\n:|])\s*(?:(py3?x?|python3?(?:-interactive)?|pi|script)|(perl)|(ruby)|(lua(?:do)?))\s+(.+)$/s.exec(
      text.text,
    );
  if (!match) return;
  const [, python, perl, ruby, , code = ""] = match;
  const language = python ? "python" : perl ? "perl" : ruby ? "ruby" : "lua";
  judgeInlineCode({ ...text, text: code }, language, scope);
}

/** Options of editors whose value is code, or names it. */
const takesValue =
  /^(?:-[a-zA-Z]*c|--cmd|-S|-s|-u|-i|-T|-w|-W|-[tnqu]*e|--eval|-eval|-l|-x|--load|-f|--funcall|--servername|--remote-expr)$/;

/** Editors: `-c '!CMD'`, `+!CMD`, `--cmd`, `--eval`. */
export const editor: Judge = ({ name, args }, scope) => {
  const texts = args.flatMap((arg, index) =>
    takesValue.test(arg.text)
      ? (args[index + 1] ?? [])
      : /^[+]|^--(?:cmd|eval)=/.test(arg.text)
        ? [{ ...arg, text: arg.text.replace(/^\+|^--\w+=/, "") }]
        : [],
  );
  const inputs = name === "ed" || name === "ex" ? scope.stdin : [];
  for (const text of [...texts, ...inputs]) {
    for (const [, code] of text.text.matchAll(
      /(?:^|[\n|:%]|silent!?\s+|exe(?:cute)?\s+["']|(?:^|[\n|:])\s*[%\d,.$]*(?:w(?:rite)?|r(?:ead)?)\s+)\s*!\s*([^\n]+)/g,
    ))
      // `:w !CMD` and `:%!CMD` give the text to the command.
      runCode({ ...text, text: code! }, [], { ...scope, stdin: [unknown(origins.file)] });
    for (const [, call, strings] of text.text.matchAll(
      /\bsystem(?:list)?\(([^)]*)(?:\)|$)|(?:shell-command|call-process|start-process)[^"]{0,80}("(?:\\.|[^"\\])*"(?:[^"()]{1,40}"(?:\\.|[^"\\])*")*)/g,
    )) {
      scope.analysis.step(4);
      // The program of `call-process` and its arguments are strings of their own.
      const code = call === undefined ? findLiterals(strings!).join(" ") : findLiterals(call)[0];
      if (code !== undefined) runCode(known(code), [], scope);
    }
    for (const [, path] of text.text.matchAll(/\(delete-(?:directory|file)\s+"([^"\n]{1,400})"/g))
      judgeDelete(known(path!), scope, { isRecursive: true });
    for (const [, path] of text.text.matchAll(/(?:^|[\n|:])\s*(?:w(?:rite)?!?|sav(?:eas)?!?)\s+([^\n|!]+)/g))
      judgeWrites([known(path!.trim())], scope);
    judgeScript(text, scope);
  }
  const speller = name === "nano" ? args.findIndex(({ text }) => /^(?:-s|--speller)$/.test(text)) + 1 : 0;
  if (speller > 0 && args[speller]) runCode(args[speller], [], scope);
  for (const { text } of name === "ed" ? args : []) if (text.startsWith("!")) runCode(known(text.slice(1)), [], scope);
  if (name === "view" || hasArg(args, /^-[RM]$/)) return;
  const isFile = (arg: Text, index: number) => !/^[-+]/.test(arg.text) && !takesValue.test(args[index - 1]?.text ?? "");
  judgeWrites(args.filter(isFile), scope);
};

/** Clients of databases and debuggers with a command for the shell. */
export const clientCode: Judge = ({ args }, scope) => {
  for (const text of [...args, ...scope.stdin]) {
    for (const [, code] of text.text.matchAll(
      /(?:^|[\s;"'])(?:\\!|\.shell|\.system|shell|system|host|!!?|-ex=?)\s+([^\n;]+)/g,
    ))
      runCode({ ...text, text: code! }, [], scope);
    for (const [, code] of text.text.matchAll(/(?:(?:^|[\s;])\\(?:o|out|g|gx|w)\s*\||^--pager=)\s*([^\n]+)/g))
      runCode({ ...text, text: code! }, [], scope);
    for (const [, code] of text.text.matchAll(/COPY\s[\s\S]{0,200}?\b(?:TO|FROM)\s+PROGRAM\s+'([^']*)'/gi))
      runCode({ ...text, text: code! }, [], scope);
  }
};

/** `gdb -ex 'shell CMD'`, `gdb --args CMD`. */
export const debug: Judge = ({ args }, scope) => {
  args.forEach((arg, index) => {
    const command = args[index + 1];
    if (!command || !/^-(?:i?ex|o|-one-line|-(?:init-)?eval-command)$/.test(arg.text)) return;
    judgeScript(command, scope);
    const code = /^\s*(?:shell|!|platform shell|make)\s*(.*)$/s.exec(command.text)?.[1];
    if (code) runCode({ ...command, text: code }, [], scope);
  });
  const start = args.findIndex(({ text }) => text === "--args" || text === "--");
  if (start >= 0 && args[start + 1]) scope.interpreter.runCommand(args.slice(start + 1), deepen(scope));
};

/** `screen -dm CMD`. */
export const screen: Judge = ({ args, program }, scope) => {
  const options = parseOptions(args, { ...program, stopsAtOperand: true });
  if (options.operands.length > 0 && !options.has("r", "x"))
    scope.interpreter.runCommand(options.operands, deepen(scope));
};

/** `tmux new -d CMD`. */
export const tmux: Judge = ({ args, program }, scope) => {
  const general = parseOptions(args, { ...program, stopsAtOperand: true });
  for (const code of general.get("c")) runCode(code, [], scope);
  for (const command of splitCommands(general.operands)) runTmux(command, scope);
};

/** A word that ends in `;` ends a command of tmux. */
function splitCommands(words: readonly Text[]): (readonly Text[])[] {
  const end = words.findIndex(({ text }) => /(?:^|[^\\]);$/.test(text));
  if (end === -1) return [words];
  const last = { ...words[end]!, text: words[end]!.text.slice(0, -1) };
  return [[...words.slice(0, end), ...(last.text === "" ? [] : [last])], ...splitCommands(words.slice(end + 1))];
}

function runTmux([verb, ...rest]: readonly Text[], scope: Scope): void {
  if (/^send(?:-keys)?$/.test(verb?.text ?? "")) {
    const { operands } = parseOptions(rest, { options: "t:N:FHKlMRX" });
    runCode(joinWords(operands.filter(({ text }) => !/^(?:Enter|C-m|C-\w)$/.test(text))), [], scope);
  }
  if (/^kill-(?:server|session)$/.test(verb?.text ?? ""))
    report(scope, "medium", "process_kill", `tmux ${verb!.text} ends programs that others started.`);
  if (
    !/^(?:new|new-session|neww|new-window|splitw|split-window|run|run-shell|if|if-shell|respawn\w*|popup|display-popup|pipe-pane|pipep)$/.test(
      verb?.text ?? "",
    )
  )
    return;
  const { operands } = parseOptions(rest, {
    options: "c:e:F:n:s:t:x:y:l:w:bAdhDEPXZfvIkLOaoBCS",
    stopsAtOperand: true,
  });
  if (operands.length > 0) runCode(joinWords(operands), [], scope);
}

/** Programs that contain many others: the first argument is the name of one. */
export const multiCall: Judge = ({ args }, scope) => {
  const [applet] = args;
  if (!applet || applet.text.startsWith("-")) return undefined;
  return scope.interpreter.runCommand(args, deepen(scope));
};

/** The loader runs the program that it is given. */
export const loader: Judge = ({ args, program }, scope) => {
  const options = parseOptions(args, { ...program, stopsAtOperand: true });
  if (options.has("preload", "audit"))
    report(scope, "high", "privilege_escalation", "The loader loads another library first.");
  return options.operands.length > 0 && !options.has("list", "verify")
    ? scope.interpreter.runCommand(options.operands, deepen(scope))
    : undefined;
};

export const isLoaderName = (name: string): boolean => /^ld(?:-linux|-musl|64|\.so)[\w.-]*$/.test(name);
