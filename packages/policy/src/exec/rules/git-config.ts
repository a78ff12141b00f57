/** Settings of git that run programs or decide where data goes. */
import { runCode } from "../code/run-code.ts";
import { baseName } from "../paths.ts";
import { isProgram } from "../programs/index.ts";
import { report, type Scope } from "../shell/analysis.ts";
import { isKnown, type Text } from "../shell/text.ts";

/** Keys whose value is a command, or a path from which git runs something. */
const executed =
  /^(?:core\.(?:pager|editor|sshcommand|fsmonitor|hookspath|askpass|gitproxy|alternaterefscommand|attributesfile)|sequence\.editor|pager\..+|alias\..+|filter\..+\.(?:clean|smudge|process)|diff\..*(?:command|textconv|external)|merge\..+\.driver|mergetool\..+\.(?:cmd|path)|difftool\..+\.(?:cmd|path)|gpg\.(?:.+\.)?(?:program|defaultkeycommand)|gc\.recentobjectshook|hook\..+\.command|tar\..+\.command|init\.templatedir|include\.path|includeif\..+|uploadpack\.packobjectshook|remote\..+\.(?:uploadpack|receivepack|vcs|proxy)|protocol\..*allow|web\.browser|browser\..+|man\..+|trailer\..+\.(?:command|cmd)|interactive\.difffilter|sendemail\..+|ssh\.variant|credential\..+|credential|url\..+|http\..*(?:proxy|sslverify|extraheader|cookiefile)|http\.sslverify|submodule\..+\.update|safe\.directory|receive\..+|fsck\..+|imap\.tunnel|instaweb\..+|guitool\..+)$/i;
const credentials = /^(?:credential(?:\..*)?|url\..+|http\..*)$/i;
/** Programs that git itself names: for signatures, differences and stored logins. */
const otherPrograms =
  /^(?:gpg|gpg2|meld|vimdiff|nvimdiff|kdiff3|diff-highlight|simple|osxkeychain|cache|store|manager|manager-core|libsecret|wincred)$/;

/** `once`: given with `git -c` for one call. `always`: stored. */
export function judgeConfig(key: string, value: Text, scope: Scope, duration: "once" | "always"): void {
  if (!isKnown(key)) {
    report(scope, "medium", "persistence", "The setting of git is not known before it runs.");
    return;
  }
  if (!executed.test(key)) return;
  const text = value.text.trim();
  if (text === "" || /^(?:true|false|0|1|yes|no|on|off|auto|never|always|keep)$/i.test(text)) {
    const isWeaker = /^http\..*sslverify$/i.test(key) && /^(?:false|0|no|off)$/i.test(text);
    if (isWeaker) report(scope, "high", "credential_change", "git stops checking certificates.");
    return;
  }
  const isAlias = /^alias\./i.test(key);
  if (isAlias && !text.startsWith("!")) return;
  const isCredential = credentials.test(key);
  if (
    /^(?:safe\.directory|ssh\.variant|url\..+\.pushinsteadof|fsck\.|receive\.)/i.test(key) ||
    (/^url\..+\.insteadof$/i.test(key) &&
      /^(?:url\.(?:https:\/\/|git@|ssh:\/\/git@))(?:github|gitlab|bitbucket)\.(?:com|org)/i.test(key))
  ) {
    report(scope, "medium", isCredential ? "credential_change" : "persistence", `It sets ${key} of git.`);
    return;
  }
  const [program = ""] = text.split(/\s/);
  const isPlain =
    (isProgram(baseName(program), "viewer") || otherPrograms.test(baseName(program))) &&
    !/[;|&`$<>(!]|ProxyCommand|LocalCommand|KnownHostsCommand|PKCS11|\s(?:-F|-c|--cmd|--eval|-S|-u)\b/i.test(text);
  if (isPlain && !/hookspath|fsmonitor|include/i.test(key)) {
    if (isCredential && duration === "always") report(scope, "high", "credential_change", `It sets ${key} of git.`);
    return;
  }
  report(
    scope,
    "high",
    isCredential ? "credential_change" : "persistence",
    `It sets ${key} of git, which runs ${text.slice(0, 80)}.`,
  );
  const isCommand = !/hookspath|templatedir|include|^http|^url|attributesfile|proxy$/i.test(key) && isKnown(text);
  if (isCommand) runCode({ ...value, text: text.replace(/^!/, "") }, [], { ...scope, state: scope.state.clone() });
}
