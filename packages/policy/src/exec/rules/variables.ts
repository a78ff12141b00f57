/** Variables that make programs run something else. */
import { getZone, resolvePath, baseName } from "../paths.ts";
import { isProgram } from "../programs/index.ts";
import { deepen, report, type Scope } from "../shell/analysis.ts";
import { runEmbedded } from "../shell/parameters.ts";
import { isKnown, unknownMark, type Text } from "../shell/text.ts";
import { isPoolAddress } from "./miners.ts";
import { judgeWrite } from "./write.ts";

/** Their value is run as a command, by this or that program. */
const commands =
  /^(?:(?:GIT_|SYSTEMD_|MAN|AWS_|BAT_|DELTA_|GH_|KUBECTL_|PSQL_)?PAGER|(?:GIT_|GIT_SEQUENCE_|VISUAL_|SUDO_|SVN_|HG)?EDITOR|VISUAL|FCEDIT|BROWSER|GIT_SSH_COMMAND|GIT_SSH|GIT_ASKPASS|SSH_ASKPASS|SUDO_ASKPASS|GIT_PROXY_COMMAND|GIT_EXTERNAL_DIFF|PROMPT_COMMAND|LESSOPEN|LESSCLOSE|RSYNC_RSH|CVS_RSH|TAR_OPTIONS|MANROFFOPT|TEXINPUTS_PAGER|CARGO_BUILD_RUSTC_WRAPPER|RUSTC_WRAPPER|npm_config_script_shell|NPM_CONFIG_SCRIPT_SHELL)$/;
/** Build systems run their value: `CC`, `AR`, `CMAKE_C_COMPILER_LAUNCHER`, `CARGO_TARGET_…_RUNNER`. */
const buildTools =
  /^(?:\w+_)?(?:CC|CXX|CPP|FC|LD|AR|AS|NM|RANLIB|STRIP|OBJCOPY|LEX|YACC|RM|INSTALL|LINKER|COMPILER|LAUNCHER|RUNNER|WRAPPER|CMD|COMMAND)$/;
/** Their value names code that the loader or an interpreter loads. */
const loaders =
  /^(?:LD_PRELOAD|LD_AUDIT|LD_LIBRARY_PATH|DYLD_\w+|BASH_ENV|ENV|ZDOTDIR|PYTHONSTARTUP|PYTHONHOME|PYTHONPATH|PYTHONUSERBASE|PERL5OPT|PERL5LIB|PERL5DB|RUBYOPT|RUBYLIB|NODE_OPTIONS|NODE_PATH|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|GCONV_PATH|GIT_EXEC_PATH|GIT_TEMPLATE_DIR|GIT_CONFIG_GLOBAL|GIT_CONFIG_SYSTEM|GIT_CONFIG_COUNT|GIT_CONFIG_KEY_\d+|GIT_CONFIG_VALUE_\d+|GIT_CONFIG_PARAMETERS|GIT_DIR|GLIBC_TUNABLES|BASH_FUNC_.+|SHELLOPTS|BASHOPTS|PS4|LUA_INIT|PHPRC|PHP_INI_SCAN_DIR|R_PROFILE|OPENSSL_CONF|CLASSPATH|npm_config_node_options|ERL_FLAGS|HOSTALIASES|MAKEFLAGS)$/;
/** Also compilers' caches, which run the compiler that they are given. */
const otherPrograms = /^(?:ed|tee|head|tail|kak|open|xdg-open|echo|sccache|ccache|env)$/;

export function judgeAssignment(name: string, value: Text, outer: Scope): void {
  const scope = { ...outer, command: null };
  if (/^PS[0-4]$/.test(name)) runEmbedded([value], scope);
  if (/^\s*\(\)\s*\{/.test(value.text)) runFunction(name, value, scope);
  if (name === "PATH") judgePath(value, scope);
  else if (commands.test(name)) judgeCommandVariable(name, value, scope);
  else if (loaders.test(name)) judgeLoader(name, value, scope);
  else if (/^GIT_TRACE\w*$/.test(name) && value.text.startsWith("/")) judgeWrite(value.text, scope);
  else if (isPoolAddress(value.text))
    report(scope, "high", "exfiltration", `${name} names a pool that this machine would compute coins for.`);
  else if (buildTools.test(name) && isCommandLine(value.text)) runValue(value, scope);
}

/** A function that the environment brings along: newer shells import it by its name, very old ones run what follows it. */
function runFunction(name: string, value: Text, scope: Scope): void {
  const isImported = name.startsWith("BASH_FUNC_");
  if (!isImported) report(scope, "high", "opaque_exec", `${name} has the form of a function that old shells run.`);
  const call = isImported ? "\nimported_function" : "";
  runValue({ ...value, text: `imported_function ${value.text.trim()}${call}` }, scope);
}

/** More than the name of a program. */
const isCommandLine = (text: string) => /^\s*[^\s-]\S*\s+\S/.test(text) && isKnown(text);

function runValue(value: Text, scope: Scope): void {
  scope.interpreter.runText(value, deepen(scope, { state: scope.state.clone() }));
}

function judgeCommandVariable(name: string, value: Text, scope: Scope): void {
  const text = value.text.trim().replace(/^\|+-?/, "");
  if (text === "" || (name === "BROWSER" && /^(?:none|false|0)$/.test(text))) return;
  const [program = ""] = text.split(/\s/);
  const isPlain =
    (isProgram(baseName(program), "viewer") || otherPrograms.test(baseName(program))) &&
    !/[;|&`$<>(]|\bProxyCommand|LocalCommand/i.test(text);
  // `GIT_SEQUENCE_EDITOR="sed -i …"` is how a script edits.
  const isEditing = name.endsWith("EDITOR") && /^(?:sed|perl|awk|cp|mv)$/.test(program) && isKnown(text);
  if (!isPlain)
    report(
      scope,
      isEditing ? "medium" : "high",
      "opaque_exec",
      `${name} makes other programs run ${text.slice(0, 80).replaceAll(unknownMark, "…")}.`,
    );
  if (isKnown(text)) runValue({ ...value, text }, scope);
}

function judgeLoader(name: string, value: Text, scope: Scope): void {
  const { text } = value;
  if (text === "") return;
  if (name === "NODE_OPTIONS" || name === "RUBYOPT" || name === "MAKEFLAGS" || /JAVA/.test(name)) {
    const rest = text.replace(ownModules, (option, path?: string) =>
      path === undefined || isTrustedDirectory(path, scope) ? "" : option,
    );
    if (!loadsMore.test(rest) && isKnown(text)) return;
  } else if (name === "ENV") {
    // Shells read it as a file; elsewhere it names a stage, as in `ENV=test`.
    if (isKnown(text) && !text.includes("/")) return;
  } else if (
    /^(?:PYTHONPATH|PERL5LIB|RUBYLIB|NODE_PATH|LD_LIBRARY_PATH|CLASSPATH|GIT_DIR|DYLD_LIBRARY_PATH)$/.test(name)
  ) {
    if (text.split(":").every((directory) => isTrustedDirectory(directory, scope))) return;
  } else if (name === "PS4" && !/`|\$\(/.test(text)) return;
  else if (name === "PERL5OPT") {
    if (/^-[wW]/.test(text)) return;
  } else if (name === "GIT_CONFIG_GLOBAL" || name === "GIT_CONFIG_SYSTEM") {
    if (text === "/dev/null") return;
  }
  report(
    scope,
    "high",
    "privilege_escalation",
    `${name} makes other programs load ${text.slice(0, 80).replaceAll(unknownMark, "…")}.`,
  );
}

/** Modules of the project by their names or paths, and an inspector that only this machine reaches. */
const ownModules =
  /(?<=^|\s)(?:(?:-r|--require|--import|--loader|--experimental-loader)[= ]?(?:[@\w][\w@.-]*(?:\/[\w@.-]+)*|(\.{1,2}\/[\w@./-]+|\/[\w@./-]+))|--inspect(?:-brk)?(?:=(?:127\.0\.0\.1:|localhost:)?\d{1,5})?|-[wW]\S*)(?=\s|$)/g;
const loadsMore =
  /(?:^|\s)(?:-[rIC]|--require|--import|--loader|--experimental-loader|--inspect|-javaagent|-agentlib|-agentpath|--eval|SHELL)/;

/** Each directory of the search path must be one where the user's programs are. */
function judgePath(value: Text, scope: Scope): void {
  const bad = value.text.split(":").find((directory) => !isTrustedDirectory(directory, scope));
  if (bad !== undefined)
    report(
      scope,
      "high",
      "opaque_exec",
      `Programs are looked for in ${bad.replaceAll(unknownMark, "…") || "the current directory"}.`,
    );
}

function isTrustedDirectory(directory: string, scope: Scope): boolean {
  if (directory === unknownMark || directory === "") return true;
  const { context } = scope.analysis;
  const zone = getZone(resolvePath(directory, scope.state.directories[0]!, context.home), context);
  return /^(?:workspace|in-workspace|repository|in-home|system|root|unknown)$/.test(zone);
}
