/** Ordinary programs with an option that runs a command. */
import { baseName, getZone } from "../paths.ts";
import { judgeDelete } from "../rules/delete.ts";
import { judgeOutput } from "../rules/output-options.ts";
import { judgeWrite } from "../rules/write.ts";
import { deepen, report, type Scope } from "../shell/analysis.ts";
import { joinOrigins, known, origins, unknown, type Text } from "../shell/text.ts";
import { runCode } from "./code.ts";
import { findLiterals } from "./code-calls.ts";
import { judgeInlineCode } from "./inline-code.ts";
import { forNames, resolveAll, type Judge, type Judges } from "./invocation.ts";
import { parseOptions } from "./options.ts";
import { joinWords } from "./shells.ts";

const compressors =
  /^(?:gzip|gunzip|zcat|bzip2|bunzip2|lbzip2|pbzip2|xz|unxz|pxz|pixz|zstd|unzstd|zstdmt|pzstd|lz4|unlz4|lzop|lzip|plzip|pigz|unpigz|lzma|unlzma|brotli|lrzip|compress|uncompress|cat)$/;

/** Whether it is one of the well-known programs that pack and unpack, found by its name alone, with options of its own. */
export const isCompressor = ({ text }: Text): boolean =>
  compressors.test(text.trim().split(/\s/)[0]!) && /^[\w\s.,=+-]*$/.test(text);

/** A program that an option names. Known compressors are harmless, but still unusual. */
export function runOption(program: Text, scope: Scope): void {
  const [name = ""] = program.text.trim().split(/\s/);
  if (compressors.test(baseName(name)) && !/[;|&`$<>]/.test(program.text)) {
    report(scope, "medium", "opaque_exec", `An option runs ${name}.`);
    return;
  }
  report(scope, "high", "opaque_exec", `An option runs ${program.text.slice(0, 80)}.`);
  runCode(program, [], scope);
}

/** Programs with options whose value is a program or code. */
const simple: Record<
  string,
  {
    short?: string;
    long?: string;
    hasSingleDash?: boolean;
    /** Options with a program that nobody expects there. */
    code: readonly string[];
    /** Options with a line of code, which is judged by what it does. */
    shell?: readonly string[];
    writes?: readonly string[];
  }
> = {
  sort: {
    short: "k:t:T:o:S:nrufbdghiMRVsczm",
    long: "compress-program= output= key= field-separator= temporary-directory= buffer-size= files0-from= parallel= reverse numeric-sort unique",
    code: ["compress-program"],
    writes: ["o", "output"],
  },
  rg: {
    short: "A:B:C:e:f:g:j:m:M:r:t:T:E:d:ilnNwvcHhuUzLSsFPpo0",
    long: "pre= pre-glob= pretty hostname-bin= regexp= file= glob= iglob= type= type-not= max-count= context= replace= color= colors= sort= ignore-file= encoding= engine= json files hidden no-ignore multiline",
    code: ["pre", "hostname-bin"],
  },
  split: {
    short: "a:b:C:l:n:t:dex",
    long: "filter= additional-suffix= bytes= lines= number= suffix-length= numeric-suffixes=?",
    code: [],
    shell: ["filter"],
  },
  bat: {
    short: "l:H:r:m:pnAPfh",
    long: "pager= language= paging= style= color= theme= map-syntax= line-range= tabs= wrap=",
    code: [],
    shell: ["pager"],
  },
  delta: { long: "pager= paging= features= syntax-theme= width=", code: [], shell: ["pager"] },
  fzf: {
    short: "q:f:n:d:m:e",
    long: "preview= bind= query= filter= nth= with-nth= delimiter= height= prompt= header= preview-window= expect= with-shell= border=? layout= tac multi ansi reverse",
    code: ["with-shell"],
    shell: ["preview"],
  },
  dc: { short: "e:f:", long: "expression= file=", code: [] },
  ...forEach("latex pdflatex xelatex lualatex tex pdftex luatex", {
    hasSingleDash: true,
    long: "shell-escape output-directory= jobname=",
    code: [],
    writes: ["output-directory"],
  }),
  m4: { short: "D:U:I:F:R:s", long: "define= include= freeze-state= reload-state=", code: [] },
  gnuplot: { short: "e:pdc", code: [] },
  logrotate: {
    short: "s:m:l:dfv",
    long: "state= mail= log= debug force verbose",
    code: ["m", "mail"],
    writes: ["s", "state", "l", "log"],
  },
  enscript: { short: "p:o:d:P:", long: "output=", code: [], writes: ["p", "o", "output"] },
  "yt-dlp": {
    short: "o:f:P:x",
    long: "exec= exec-before-download= output= format= downloader= external-downloader= netrc-cmd=",
    code: [],
    shell: ["exec", "exec-before-download", "netrc-cmd"],
  },
  tcpdump: { short: "z:w:r:i:c:C:G:W:s:nvXAe", code: ["z"], writes: ["w"] },
  pandoc: {
    short: "F:L:o:f:t:r:w:sV:M:H:",
    long: "filter= lua-filter= output= from= to= pdf-engine=",
    code: ["filter", "F"],
    writes: ["o", "output"],
  },
  cpio: {
    short: "C:D:E:F:H:I:M:O:R:diomptuv",
    long: "rsh-command= file= directory=",
    code: ["rsh-command"],
    writes: ["O"],
  },
  csplit: { short: "f:b:n:ksqz", long: "prefix= suffix-format= digits=", code: [], writes: ["f", "prefix"] },
  aria2c: {
    short: "d:o:i:x:s:j:",
    long: "on-download-complete= on-download-start= on-download-pause= on-download-stop= on-download-error= on-bt-download-complete= dir= out=",
    code: "complete start pause stop error".split(" ").map((event) => `on-download-${event}`),
  },
  bazel: { long: "run_under= config= output_base=", code: ["run_under"] },
  latexmk: { short: "e:r:", hasSingleDash: true, long: "pdf pdfxe pdflua c C f g cd", code: ["e"] },
  ctags: { short: "f:o:RL:", long: "options=", code: [], writes: ["f", "o"] },
  "start-stop-daemon": {
    short: "x:a:p:n:u:c:d:SKbmo",
    long: "exec= startas= pidfile= name= user= chuid= chdir= start stop background make-pidfile",
    code: ["exec", "x", "startas", "a"],
  },
  ansible: {
    short: "a:m:i:u:e:l:bkK",
    long: "args= module-name= inventory= user= extra-vars= become",
    code: ["a", "args"],
  },
  apt: { short: "o:c:t:yqfmdsu", long: "option= config-file= target-release= yes", code: [] },
  "apt-get": { short: "o:c:t:yqfmdsu", long: "option= config-file= target-release= yes", code: [] },
  less: { short: "o:O:k:P:t:T:x:b:h:j:p:y:z:FRSXNiIeEmMnqQsuUwWGgKL", code: [], writes: ["o", "O"] },
};

const optionProgram: Judge = ({ name, args }, scope) => {
  const spec = simple[name]!;
  const options = parseOptions(args, spec);
  for (const program of options.get(...spec.code)) runOption(program, scope);
  const input = { ...scope, stdin: [unknown(joinOrigins(scope.stdin) | joinOrigins(args) | origins.file)] };
  for (const code of options.get(...(spec.shell ?? []))) runCode(code, [], input);
  for (const code of findEmbedded(name, args, scope)) runCode(code, [], scope);
  // `less +!CMD` runs it at the start.
  for (const { text } of name === "less" ? args : [])
    if (/^\+{1,2}!/.test(text)) runCode(known(text.replace(/^\++!/, "")), [], scope);
  for (const file of options.get(...(spec.writes ?? []))) judgeOutput(file, scope);
  if (name === "logrotate" && !options.has("d", "debug", "help", "version")) judgeRotation(options.operands, scope);
  if (name.startsWith("apt")) {
    for (const option of options.get("o", "option")) {
      const code = /(?:Pre-Invoke|Post-Invoke\w*|Pre-Install-Pkgs|Pre-Invoke-Success)\S*?=(.*)$/s.exec(
        option.text,
      )?.[1];
      if (code) runOption({ ...option, text: code }, scope);
    }
  }
};

/** Small languages in which some words run a command: in arguments, or in the input. */
const embedded: Record<string, RegExp> = {
  dc: /(?:^|\n|\s)!([^\n<>=][^\n]*)/g,
  m4: /e?syscmd\(\s*[`"']?([^)`'"\n]+)/g,
  gnuplot: /(?:system\s*\(?\s*["']|(?:^|\n|;)\s*!|["']\s*[|<]\s*)([^"'\n]+)/g,
  ...forEach(
    "latex pdflatex xelatex lualatex tex pdftex luatex",
    /\\write18\s*\{([^}\n]+)|os\.execute\s*\(\s*["']([^"'\n]+)/g,
  ),
  fzf: /(?:execute(?:-silent|-multi)?|become|reload(?:-sync)?|preview|transform\S*)[(:]\s*([^)\n]+)/g,
};

function forEach<T>(names: string, value: T): Record<string, T> {
  return Object.fromEntries(names.split(" ").map((name) => [name, value]));
}

function findEmbedded(name: string, args: readonly Text[], scope: Scope): Text[] {
  const pattern = embedded[name];
  if (!pattern) return [];
  return [...args, ...scope.stdin].flatMap((text) =>
    [...text.text.matchAll(pattern)].slice(0, 8).map(([, code, other]) => ({ ...text, text: (code ?? other)! })),
  );
}

/** Scripts in a configuration of logrotate run as it says. */
function judgeRotation(files: readonly Text[], scope: Scope): void {
  for (const path of files.flatMap((file) => resolveAll(file, scope))) {
    const isOfSystem = getZone(path, scope.analysis.context) === "system";
    report(scope, isOfSystem ? "medium" : "high", "opaque_exec", `logrotate runs the scripts of ${path}.`);
  }
}

const man: Judge = ({ args }, scope) => {
  const options = parseOptions(args, {
    short: "P:H:C:L:M:S:s:e:p:R:E:afkKlwWiIdDuqtTZ",
    long: "pager= html=? config-file= locale= manpath= sections= extension= preprocessor= recode= encoding= apropos whatis where all local-file",
  });
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
const editor: Judge = ({ name, args }, scope) => {
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
      for (const full of resolveAll(known(path!.trim()), scope)) judgeWrite(full, scope);
    judgeScript(text, scope);
  }
  const speller = name === "nano" ? args.findIndex(({ text }) => /^(?:-s|--speller)$/.test(text)) + 1 : 0;
  if (speller > 0 && args[speller]) runCode(args[speller], [], scope);
  for (const { text } of name === "ed" ? args : []) if (text.startsWith("!")) runCode(known(text.slice(1)), [], scope);
  if (name === "view" || args.some(({ text }) => /^-[RM]$/.test(text))) return;
  for (const [index, arg] of args.entries())
    if (!/^[-+]/.test(arg.text) && !takesValue.test(args[index - 1]?.text ?? ""))
      for (const path of resolveAll(arg, scope)) judgeWrite(path, scope);
};

/** Clients of databases and debuggers with a command for the shell. */
const client: Judge = ({ name, args }, scope) => {
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
  if (name === "gdb" || name === "lldb") {
    args.forEach((arg, index) => {
      if (/^-(?:i?ex|o|-one-line|-(?:init-)?eval-command)$/.test(arg.text) && args[index + 1]) {
        judgeScript(args[index + 1]!, scope);
        const code = /^\s*(?:shell|!|platform shell|make)\s*(.*)$/s.exec(args[index + 1]!.text)?.[1];
        if (code) runCode({ ...args[index + 1]!, text: code }, [], scope);
      }
    });
    const start = args.findIndex(({ text }) => text === "--args" || text === "--");
    if (start >= 0 && args[start + 1]) scope.interpreter.runCommand(args.slice(start + 1), deepen(scope));
  }
};

/** `tmux new -d CMD`, `screen -dm CMD`. */
const terminal: Judge = ({ name, args }, scope) => {
  if (name === "screen") {
    const options = parseOptions(args, { short: "c:e:h:p:r:s:S:t:T:X:x:ADdmLlnOqRUv", stopsAtOperand: true });
    if (options.operands.length > 0 && !options.has("r", "x"))
      scope.interpreter.runCommand(options.operands, deepen(scope));
    return;
  }
  const general = parseOptions(args, { short: "c:f:L:S:2CDluvNV", stopsAtOperand: true });
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
    const { operands } = parseOptions(rest, { short: "t:N:FHKlMRX" });
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
  const { operands } = parseOptions(rest, { short: "c:e:F:n:s:t:x:y:l:w:bAdhDEPXZfvIkLOaoBCS", stopsAtOperand: true });
  if (operands.length > 0) runCode(joinWords(operands), [], scope);
}

/** Programs that contain many others: the first argument is the name of one. */
const multiCall: Judge = ({ args }, scope) => {
  const [applet] = args;
  if (!applet || applet.text.startsWith("-")) return undefined;
  return scope.interpreter.runCommand(args, deepen(scope));
};

/** The loader runs the program that it is given. */
const loader: Judge = ({ args }, scope) => {
  const options = parseOptions(args, {
    long: "library-path= preload= audit= argv0= inhibit-rpath= inhibit-cache list verify help version",
    stopsAtOperand: true,
  });
  if (options.has("preload", "audit"))
    report(scope, "high", "privilege_escalation", "The loader loads another library first.");
  return options.operands.length > 0 && !options.has("list", "verify")
    ? scope.interpreter.runCommand(options.operands, deepen(scope))
    : undefined;
};

export const optionPrograms: Judges = {
  ...forNames(Object.keys(simple).join(" "), optionProgram),
  ...forNames("vi vim nvim ex view gvim emacs emacsclient ed nano", editor),
  ...forNames("psql mysql mariadb sqlite3 gdb lldb ftp-client sqlplus sqlcmd mongosh redis-cli", client),
  ...forNames("tmux screen", terminal),
  ...forNames("busybox toybox shx", multiCall),
  ...forNames("ld-linux ld.so ld-linux-x86-64.so ld-musl ld64.so", loader),
  man,
};

export const isLoaderName = (name: string): boolean => /^ld(?:-linux|-musl|64|\.so)[\w.-]*$/.test(name);
